"""The commands that mend or measure what a rule found, quoted for a shell.

They are for people to read and run; nothing here is ever run by this program.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from iostudy.host.configuration import Assignment
from iostudy.host.topology import Place

Levels = Sequence[str | int]


def set_command(setting: str, value: str | int, on: str | Path | None = None) -> str:
    """``iostudy set NAME=VALUE [--on PLACE]``, which ``iostudy restore`` undoes."""
    place = ["--on", str(on)] if on is not None else []
    return shlex.join(["iostudy", "set", f"{setting}={value}", *place])


def study_command(place: Place, factor: str, levels: Levels, workload: str, **options: Any) -> str:
    """Write a study of one factor on that mount into a file, and run it.

    JSON is YAML as well, and goes on one line.
    """
    study: Mapping[str, Any] = {
        "question": f"Does {factor} matter for {workload} on {place.mount.point}?",
        "target": str(place.mount.point),
        "factors": {factor: list(levels)},
        "workloads": [{workload: options}],
    }
    file = f"{factor}.yaml"
    written = shlex.join(["printf", "%s", json.dumps(study)])
    return f"{written} > {shlex.quote(file)} && {shlex.join(['iostudy', 'run', file])}"


def write_command(path: str | Path, value: str) -> str:
    """Write a value to a file of the kernel's that iostudy has no setting for."""
    return f"echo {shlex.quote(value)} > {shlex.quote(str(path))}"


def comment_out_command(assignment: Assignment, folder: str) -> str:
    """Make the lines of an assignment a comment, in a copy below /etc if the file is elsewhere.

    A file in /etc goes before one of the same name that a package has brought.
    """
    file = assignment.file
    if file.is_relative_to("/etc"):
        return _commented(assignment, file)
    copy = Path("/etc") / folder / file.name
    return f"{shlex.join(['cp', str(file), str(copy)])} && {_commented(assignment, copy)}"


def _commented(assignment: Assignment, file: Path) -> str:
    lines = f"{assignment.first},{assignment.last}s/^/#/"
    return shlex.join(["sed", "-i", lines, str(file)])
