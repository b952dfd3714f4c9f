"""Comparison with existing configuration files: conflicts, overrides and duplicates.

Source: sysctl.d(5), tmpfiles.d(5), udev(7), limits.conf(5), bootup(7).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from iostudy.errors import UsageError
from iostudy.host.configuration.assignment import Assignment, Stage, override_path
from iostudy.host.configuration.writers import read_writers
from iostudy.host.files import Reader, decode
from iostudy.persist.plan import Activation, Artifact, Conflict, Expected, PersistencePlan
from iostudy.persist.request import PersistedSetting

TUNED_REMEDY = "use --format tuned, or another profile: TuneD writes it after all files"
_ADMINISTRATOR_FOLDERS = ("etc", "run")
"""The folders at the root that packages leave to the administrator."""


@dataclass(frozen=True)
class ExistingLine:
    """Value of a setting in an existing line, and whether it overrides iostudy's file."""

    line: Assignment
    value: str
    wins: bool

    @property
    def is_packaged(self) -> bool:
        """Whether a package installed the file."""
        return self.line.file.parts[1] not in _ADMINISTRATOR_FOLDERS


def read_text(path: Path, root: Path) -> str | None:
    """Read a file with any bytes; None if it does not exist.

    UsageError if it may not be read.
    """
    real = resolve_path(path, root)
    try:
        return decode(real.read_bytes()) if real.is_file() else None
    except PermissionError as error:
        raise _unreadable(f"{path}: {error.strerror}") from error


def read_other_writers(root: Path, excluded: Path) -> tuple[Assignment, ...]:
    """Read what all other files set; UsageError if one is unreadable."""
    reader = Reader(root)
    writers = read_writers(reader)
    if reader.refused:
        raise _unreadable("; ".join(reader.refused))
    return tuple(line for line in writers if line.file != excluded)


def overrides(line: Assignment, file: Path, stage: Stage) -> bool:
    """Whether a line is obeyed after one of iostudy's file of that stage."""
    return (line.stage, line.file.name) > (stage, file.name)


def _unreadable(found: str) -> UsageError:
    return UsageError(
        "to compare with what is there already",
        found=found,
        where="the configuration of this host",
        remedy="run it as root",
    )


def resolve_path(path: Path, root: Path) -> Path:
    """Resolve an absolute path below a root."""
    return root / path.relative_to("/")


def build_artifact(
    path: Path,
    after: str,
    root: Path,
    activations: tuple[Activation, ...] = (),
    expected: tuple[Expected, ...] = (),
) -> Artifact:
    """Build the artifact of a file from its current and its new content."""
    return Artifact(path, read_text(path, root), after, activations, expected)


def agrees(said: str, kept: str) -> bool:
    """Whether a line leaves the value to keep; TuneD has ``>N`` and alternatives ``a|b``."""
    if said.startswith(">") and said[1:].isdecimal() and kept.isdecimal():
        return int(kept) >= int(said[1:])
    return kept.split() in [part.split() for part in said.split("|")]


def compare_with_existing(
    kept: Iterable[tuple[PersistedSetting, Sequence[ExistingLine]]],
) -> tuple[tuple[PersistedSetting, ...], PersistencePlan]:
    """Return the settings still to write, and a plan with conflicts and notes on their other lines.

    A line of the administrator that says something else is a clash, and so is one of a package that
    wins; another of a package is overridden, and named. What is there already is not written again.
    """
    left, conflicts, notes = [], list[Conflict](), list[str]()
    for setting, said in kept:
        differing = [one for one in said if not agrees(one.value, setting.value)]
        clashing = [
            one
            for one in differing
            if (one.wins or not one.is_packaged)
            and not (one.line.stage is Stage.SERVICE and one.line.ineffective)
        ]
        last = said[-1].line if said and said[-1] not in differing else None
        if clashing:
            conflicts += (_build_conflict(setting, one) for one in clashing)
        # A file keeps the value, and no service that may be removed.
        elif last and not last.ineffective and last.stage < Stage.SERVICE:
            notes.append(f"{setting.text}: already so in {last.where}")
            continue
        else:
            notes += (
                f"{setting.text}: written, although {one.line.where} has it: {one.line.ineffective}"
                for one in said
                if one not in differing and one.line.ineffective
            )
        if differing and not clashing:
            where = ", ".join(f"{one.line.where} ({one.value})" for one in differing)
            notes.append(f"{setting.text}: overrides {where}")
        left.append(setting)
    return tuple(left), PersistencePlan(conflicts=tuple(conflicts), notes=tuple(notes))


def _build_conflict(setting: PersistedSetting, said: ExistingLine) -> Conflict:
    remedy = (
        TUNED_REMEDY
        if said.line.stage is Stage.TUNED
        else f"mask it with an empty {override_path(said.line.file)}"
        if said.is_packaged
        else "remove that line, or give it this value"
    )
    return Conflict(setting.text, said.line.where, said.line.text, remedy)
