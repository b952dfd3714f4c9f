"""Sysctls as a file of sysctl.d.

Source: sysctl.d(5), systemd-sysctl.service(8), sysctl(8).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from iostudy.host.configuration import Assignment, dotted, read_sysctl
from iostudy.host.files import ROOT
from iostudy.persist import dropins
from iostudy.persist.dropins import Said
from iostudy.persist.kept import Kept
from iostudy.persist.rendered import Activation, Expected, Rendered, heading
from iostudy.settings.sysctl_keys import COUNTERPARTS, path_of

FILE = Path("/etc/sysctl.d/90-iostudy.conf")
_LAST = Path("/etc/sysctl.conf")
"""Read by `sysctl --system` after all others, and by systemd only through a link in sysctl.d."""


def text(kept: Iterable[Kept], origin: str) -> str:
    """The content of the file."""
    return heading(origin) + "".join(f"{k.attribute} = {k.value}\n" for k in kept)


def plan(kept: Sequence[Kept], origin: str, root: Path = ROOT) -> Rendered:
    """The file beside what the other files say."""
    others = dropins.lines_of_others(read_sysctl, root, FILE)
    left, told = dropins.judge(kept, lambda setting: _said(setting, others))
    if not left:
        return told
    active = Activation(("sysctl", f"--load={FILE}"))
    expected = tuple(Expected(Path("/proc/sys", path_of(k.attribute)), k.value) for k in left)
    file = dropins.artifact(FILE, text(left, origin), root, (active,), expected)
    return told + Rendered(artifacts=(file,))


def _said(setting: Kept, others: Sequence[Assignment]) -> tuple[Said, ...]:
    """What others say about the setting, or about the one that clears it."""
    key = dotted(setting.attribute)
    clearing = COUNTERPARTS.get(key)
    found = []
    for line in others:
        wins = line.file == _LAST or line.file.name > FILE.name
        if fnmatchcase(key, line.name):
            found.append(Said(line, line.value, wins))
        elif line.name == clearing:
            found.append(Said(line, line.text, wins))
    return tuple(found)
