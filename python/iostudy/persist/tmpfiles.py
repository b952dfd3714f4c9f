"""Host-wide sysfs attributes as lines in tmpfiles.d.

Source: tmpfiles.d(5) (type w: write to a file if it is there; for two lines of one path the file
that comes first in the order of names is taken); Documentation/admin-guide/mm/transhuge.rst;
Documentation/admin-guide/pm/cpufreq.rst.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from iostudy.host.configuration.assignment import Assignment, Stage, host_path, matches_path
from iostudy.host.files import find_files
from iostudy.persist import dropins
from iostudy.persist.dropins import ExistingLine
from iostudy.persist.plan import Activation, Expected, PersistencePlan, format_heading
from iostudy.persist.request import PersistedSetting, PersistRequest
from iostudy.settings import catalog
from iostudy.settings.definitions.declared import AttributeDefinition, Place

FILE = Path("/etc/tmpfiles.d/iostudy.conf")
ATTRIBUTE = "attribute"
"""Kind of the settings that are files of the host below /sys or /proc, whatever their names."""


def find_path(name: str) -> str:
    """Return the file, or the pattern of the files, that a setting of the host is; else nothing."""
    definition = catalog.find(name)
    if isinstance(definition, AttributeDefinition) and definition.place is Place.HOST:
        return definition.attributes[0]
    return ""


def text(kept: Iterable[PersistedSetting], origin: str) -> str:
    """Return the content of the file."""
    lines = (f"w {find_path(k.name)} - - - - {k.value}\n" for k in kept)
    return format_heading(origin) + "".join(lines)


def plan(kept: Sequence[PersistedSetting], request: PersistRequest, root: Path) -> PersistencePlan:
    """Return the file and its conflicts with other files."""
    others = dropins.read_other_writers(root, FILE)
    left, result = dropins.compare_with_existing((k, _find_existing(k, others)) for k in kept)
    if not left:
        return result
    active = Activation(("systemd-tmpfiles", "--create", str(FILE)))
    expected = tuple(
        Expected(host_path(path, root), k.value)
        for k in left
        for path in sorted(find_files(find_path(k.name).removeprefix("/"), root))
    )
    file = dropins.build_artifact(FILE, text(left, request.origin), root, (active,), expected)
    return result + PersistencePlan(artifacts=(file,))


def _find_existing(
    setting: PersistedSetting, others: Sequence[Assignment]
) -> tuple[ExistingLine, ...]:
    """Find other writers of all of the files, or of some of them with another value."""
    path = find_path(setting.name)
    about = (
        line
        for line in others
        if path == line.path
        or matches_path(path, line.path)
        or (line.writes(path) and not dropins.agrees(line.value, setting.value))
    )
    return tuple(ExistingLine(line, line.value, line.stage >= Stage.TMPFILES) for line in about)
