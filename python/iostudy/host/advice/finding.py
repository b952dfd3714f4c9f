"""Rules, their observations, the resulting findings, and the commands that correct them.

The commands are for people to read and run; this program runs none of them. None writes
over a file that is there already (``set -C``: the shell's redirections then refuse to).
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from iostudy.host.advice.facts import Facts
from iostudy.host.configuration.assignment import Assignment, override_path
from iostudy.host.topology import MountEntry

HOST = "host"
"""Subject of findings about the host as a whole."""


class Certainty(StrEnum):
    """Certainty of a finding.

    FACT: it follows from the kernel or a manual. RECOMMENDATION: a vendor or a project advises it,
    and it may not fit this host. MEASURE: it depends on the workload, so only a study can decide.
    """

    FACT = "fact"
    RECOMMENDATION = "recommendation"
    MEASURE = "measure"


@dataclass(frozen=True, kw_only=True)
class Observation:
    """Observation of a rule about one subject. ``setting`` overrides that of the rule.

    ``command`` fixes or measures it in a root shell; its words are quoted.
    """

    subject: str
    found: str
    advised: str
    evidence: str
    command: str
    setting: str = ""


@dataclass(frozen=True, kw_only=True)
class DoctorFinding(Observation):
    """An observation with the texts of its rule. ``setting`` is empty if iostudy has none."""

    id: str
    title: str
    why: str
    source: str
    certainty: Certainty


@dataclass(frozen=True, kw_only=True)
class AdviceRule:
    """One possible problem: ``id`` is stable, ``source`` is the reference."""

    id: str
    title: str
    certainty: Certainty
    why: str
    source: str
    check: Callable[[Facts], Iterable[Observation]]
    setting: str = ""

    def findings(self, facts: Facts) -> Iterator[DoctorFinding]:
        """Yield the findings of the rule in these facts."""
        for observation in self.check(facts):
            yield DoctorFinding(
                **{**vars(observation), "setting": observation.setting or self.setting},
                id=self.id,
                title=self.title,
                why=self.why,
                source=self.source,
                certainty=self.certainty,
            )


_NOT_IN_QUOTES = re.compile(rb"[^ -~]|['\\\\]")


def format_command(words: Sequence[str | Path]) -> str:
    r"""Return one shell command of these words on one line.

    A word with unprintable characters or invalid UTF-8 is written as ``$'\012'``, which bash,
    zsh and ksh read.
    """
    return " ".join(_quoted(str(word)) for word in words)


def _quoted(word: str) -> str:
    if word.isprintable():
        return shlex.quote(word)
    escaped = _NOT_IN_QUOTES.sub(lambda match: rb"\%03o" % ord(match[0]), os.fsencode(word))
    return f"$'{escaped.decode('ascii')}'"


def new_file_command(text: str, file: str | Path) -> str:
    """Write a file; the command fails, and changes nothing, if the file exists."""
    lines, end = (text[:-1], "%s\\n") if text.endswith("\n") else (text, "%s")
    return f"(set -C; {format_command(['printf', end, lines])} > {format_command([file])})"


def set_command(setting: str, value: str | int, on: str | Path | None = None) -> str:
    """``iostudy set NAME=VALUE [--on PLACE]``, which ``iostudy restore`` undoes."""
    option = ["--on", str(on)] if on is not None else []
    return format_command(["iostudy", "set", f"{setting}={value}", *option])


STREAMING_READS = {"io": {"label": "streaming reads", "jobs": 4}}
STREAMING_WRITES = {
    "io": {"label": "streaming writes", "operation": "write", "jobs": 4, "sync": "fsync"}
}
"""Workloads of proposed studies: jobs with a file each, from start to end."""


def study_command(
    entry: MountEntry, factor: str, levels: Sequence[str | int], workload: Mapping[str, Any]
) -> str:
    """Return commands that write a study of one factor on that mount and run it.

    JSON is also YAML and fits on one line.
    """
    study: Mapping[str, Any] = {
        "question": f"Does {factor} matter on {entry.mount.point}?",
        "target": str(entry.mount.point),
        "factors": {factor: list(levels)},
        "workloads": [workload],
    }
    file = f"{factor}.yaml"
    return (
        f"{new_file_command(json.dumps(study), file)} && {format_command(['iostudy', 'run', file])}"
    )


def write_command(path: str | Path, value: str) -> str:
    """Write a value to a file of the kernel's that iostudy has no setting for."""
    return f"{format_command(['echo', value])} > {format_command([path])}"


def comment_out_command(assignment: Assignment) -> str:
    """Return commands that comment out the lines of an assignment, in a copy below /etc if needed.

    A file in /etc overrides a package's file of the same name. An existing copy is kept,
    because the command for another line may have created it.
    """
    file = assignment.file
    copy = override_path(file)
    if copy == file:
        return _commented(assignment, file)
    made = f"{format_command(['test', '-e', copy])} || {format_command(['cp', file, copy])}"
    return f"{{ {made}; }} && {_commented(assignment, copy)}"


def _commented(assignment: Assignment, file: Path) -> str:
    lines = f"{assignment.first},{assignment.last}s/^/#/"
    # Without it sed would replace a link by a file, and leave the target of the link unchanged.
    return format_command(["sed", "--in-place", "--follow-symlinks", lines, file])
