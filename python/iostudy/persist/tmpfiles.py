"""Host-wide sysfs attributes as lines in tmpfiles.d.

Source: tmpfiles.d(5) (type w: write to a file if it is there; for two lines of one path the file
that comes first in the order of names is taken); Documentation/admin-guide/mm/transhuge.rst;
Documentation/admin-guide/pm/cpufreq.rst.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from iostudy.host.configuration.assignment import Assignment, Stage, matches_path
from iostudy.host.files import ROOT
from iostudy.persist import dropins
from iostudy.persist.dropins import ExistingLine
from iostudy.persist.plan import Activation, Expected, PersistencePlan, format_heading
from iostudy.persist.request import PersistedSetting

FILE = Path("/etc/tmpfiles.d/iostudy.conf")
_THP = "/sys/kernel/mm/transparent_hugepage"
PATHS = {
    "thp.enabled": f"{_THP}/enabled",
    "thp.defrag": f"{_THP}/defrag",
    "cpu.governor": "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor",
}
"""Setting -> the file, or files, that it is."""


def text(kept: Iterable[PersistedSetting], origin: str) -> str:
    """Return the content of the file."""
    return format_heading(origin) + "".join(f"w {PATHS[k.name]} - - - - {k.value}\n" for k in kept)


def plan(kept: Sequence[PersistedSetting], origin: str, root: Path = ROOT) -> PersistencePlan:
    """Return the file and its conflicts with other files."""
    others = dropins.read_other_writers(root, FILE)
    left, result = dropins.compare_with_existing(
        kept, lambda setting: _find_existing(setting, others)
    )
    if not left:
        return result
    active = Activation(("systemd-tmpfiles", "--create", str(FILE)))
    expected = tuple(
        Expected(path, k.value) for k in left for path in _matching(PATHS[k.name], root)
    )
    file = dropins.build_artifact(FILE, text(left, origin), root, (active,), expected)
    return result + PersistencePlan(artifacts=(file,))


def _matching(pattern: str, root: Path) -> tuple[Path, ...]:
    found = root.glob(pattern.removeprefix("/"))
    return tuple(Path("/") / path.relative_to(root) for path in sorted(found))


def _find_existing(
    setting: PersistedSetting, others: Sequence[Assignment]
) -> tuple[ExistingLine, ...]:
    """Find other writers of all of the files, or of some of them with another value."""
    own = PATHS[setting.name]
    about = (
        line
        for line in others
        if own == line.path
        or matches_path(own, line.path)
        or (line.writes(own) and not dropins.agrees(line.value, setting.value))
    )
    return tuple(ExistingLine(line, line.value, line.stage >= Stage.TMPFILES) for line in about)
