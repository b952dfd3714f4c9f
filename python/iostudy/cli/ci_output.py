"""Output for continuous integration: exit codes by verdict, JUnit XML and a Markdown summary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from iostudy.output_file import OutputFile

if TYPE_CHECKING:
    from iostudy.report.render.verdict_cases import VerdictCase

# Functions import the modules of reports, which help and usage errors do not need.

VERDICT_EXIT = 1


class FailOn(StrEnum):
    """Verdicts for which a command exits with VERDICT_EXIT."""

    WORSE = "worse"
    INCONCLUSIVE = "inconclusive"


FailOnOption = Annotated[
    list[FailOn] | None,
    typer.Option(help=f"Exit with {VERDICT_EXIT} if any verdict is this one; repeatable."),
]
JunitOption = Annotated[
    OutputFile | None,
    typer.Option(metavar="FILE", parser=OutputFile, help="Write the verdicts as JUnit XML."),
]
SummaryOption = Annotated[
    OutputFile | None,
    typer.Option(
        metavar="FILE",
        parser=OutputFile,
        envvar="GITHUB_STEP_SUMMARY",
        help="Append the result as Markdown, as the summary of a GitHub step.",
    ),
]


@dataclass(frozen=True)
class CiOutput:
    """The requested files, and the verdicts that are failures."""

    junit: OutputFile | None
    summary: OutputFile | None
    fail_on: frozenset[str]

    @property
    def has_files(self) -> bool:
        """Whether a file is requested."""
        return self.junit is not None or self.summary is not None

    def write(
        self, name: str, cases: Sequence[VerdictCase], render_summary: Callable[[], str]
    ) -> None:
        """Write the requested files; RecordError if that fails."""
        from iostudy.report.render.verdict_cases import render_junit

        if self.junit is not None:
            self.junit.write(render_junit(name, cases, self.fail_on))
        if self.summary is not None:
            self.summary.append(render_summary())


def build_ci_output(
    fail_on: Sequence[FailOn] | None,
    junit: OutputFile | None,
    summary: OutputFile | None,
    *,
    insist: bool,
) -> CiOutput:
    """Return the output that the options request; UnsafePathError and UsageError if it is unsafe.

    ``insist`` waives the check of the folders.
    """
    for file in filter(None, (junit, summary)):
        file.require_safe(insist=insist)
    return CiOutput(junit, summary, frozenset(wanted.value for wanted in fail_on or ()))
