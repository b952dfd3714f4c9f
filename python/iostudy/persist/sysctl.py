"""Sysctls as a file in sysctl.d.

Source: sysctl.d(5), systemd-sysctl.service(8), sysctl(8).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from iostudy.host.configuration import Assignment, dotted, read_sysctl
from iostudy.host.files import ROOT
from iostudy.persist import dropins
from iostudy.persist.dropins import ExistingLine
from iostudy.persist.plan import Activation, Expected, PersistencePlan, format_heading
from iostudy.persist.request import PersistedSetting
from iostudy.settings.sysctl_keys import COUNTERPARTS, key_path

FILE = Path("/etc/sysctl.d/90-iostudy.conf")
_LAST = Path("/etc/sysctl.conf")
"""Read by `sysctl --system` after all others, and by systemd only through a link in sysctl.d."""


def text(kept: Iterable[PersistedSetting], origin: str) -> str:
    """Return the content of the file."""
    return format_heading(origin) + "".join(f"{k.attribute} = {k.value}\n" for k in kept)


def plan(kept: Sequence[PersistedSetting], origin: str, root: Path = ROOT) -> PersistencePlan:
    """Return the file and its conflicts with other files."""
    others = dropins.read_other_lines(read_sysctl, root, FILE)
    left, result = dropins.compare_with_existing(
        kept, lambda setting: _find_existing(setting, others)
    )
    if not left:
        return result
    active = Activation(("sysctl", f"--load={FILE}"))
    expected = tuple(Expected(Path("/proc/sys", key_path(k.attribute)), k.value) for k in left)
    file = dropins.build_artifact(FILE, text(left, origin), root, (active,), expected)
    return result + PersistencePlan(artifacts=(file,))


def _find_existing(
    setting: PersistedSetting, others: Sequence[Assignment]
) -> tuple[ExistingLine, ...]:
    """Find lines of other files on the setting, or on the one that clears it."""
    key = dotted(setting.attribute)
    clearing = COUNTERPARTS.get(key)
    found = []
    for line in others:
        wins = line.file == _LAST or line.file.name > FILE.name
        if fnmatchcase(key, line.name):
            found.append(ExistingLine(line, line.value, wins))
        elif line.name == clearing:
            found.append(ExistingLine(line, line.text, wins))
    return tuple(found)
