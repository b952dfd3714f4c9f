"""Output for continuous integration: exit codes by verdict, JUnit XML and a Markdown summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iostudy.errors import RecordError

if TYPE_CHECKING:
    from iostudy.report.verdict_cases import VerdictCase

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
    Path | None, typer.Option(metavar="FILE", help="Write the verdicts as JUnit XML.")
]
SummaryOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        envvar="GITHUB_STEP_SUMMARY",
        help="Append the result as Markdown, as the summary of a GitHub step.",
    ),
]


@dataclass(frozen=True)
class CiOutput:
    """The requested files, and the verdicts that are failures."""

    junit: Path | None
    summary: Path | None
    fail_on: frozenset[str]

    @property
    def has_files(self) -> bool:
        """Whether a file is requested."""
        return self.junit is not None or self.summary is not None

    def write(
        self, name: str, cases: Sequence[VerdictCase], render_summary: Callable[[], str]
    ) -> None:
        """Write the requested files; RecordError if that fails."""
        from iostudy.durable import write_whole
        from iostudy.report.render import junit

        if self.junit is not None:
            with _recording(self.junit):
                write_whole(self.junit, junit.render(name, cases, self.fail_on))
        if self.summary is not None:
            with _recording(self.summary), self.summary.open("a", encoding="utf-8") as file:
                file.write(render_summary())


def build_ci_output(
    fail_on: Sequence[FailOn] | None, junit: Path | None, summary: Path | None
) -> CiOutput:
    """The output that the options request."""
    return CiOutput(junit, summary, frozenset(wanted.value for wanted in fail_on or ()))


@contextmanager
def _recording(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RecordError(
            "to write a file for continuous integration",
            found=error.strerror or str(error),
            where=str(path),
            remedy="give a file in a folder that exists and can be written to",
        ) from error
