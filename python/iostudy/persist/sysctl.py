"""Sysctls as a file of sysctl.d.

Source: sysctl.d(5), systemd-sysctl.service(8), sysctl(8).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from iostudy.host.files import ROOT
from iostudy.persist import dropins
from iostudy.persist.dropins import Line, Said
from iostudy.persist.kept import Kept
from iostudy.persist.rendered import Activation, Expected, Rendered, heading

FILE = Path("/etc/sysctl.d/90-iostudy.conf")
_LAST = Path("/etc/sysctl.conf")
"""Read by `sysctl --system` after all others, and by systemd only through a link in sysctl.d."""

_COUNTERPARTS = {
    "vm/dirty_ratio": "vm/dirty_bytes",
    "vm/dirty_background_ratio": "vm/dirty_background_bytes",
}
"""To write one of the two clears the other (Documentation/admin-guide/sysctl/vm.rst)."""
_CLEARED_BY = _COUNTERPARTS | {bytes_: ratio for ratio, bytes_ in _COUNTERPARTS.items()}


def path_of(key: str) -> str:
    """The key as a path below /proc/sys: ``net.ipv4.tcp_rmem`` -> ``net/ipv4/tcp_rmem``.

    Where the first separator is a slash the dots stand for themselves; else the two are swapped.
    """
    first = next((c for c in key if c in "./"), ".")
    return key if first == "/" else key.translate(str.maketrans("./", "/."))


def parse(text: str) -> tuple[str, str] | None:
    """Path below /proc/sys (perhaps a glob) and value of a line; None for a line without value."""
    key, equals, value = text.removeprefix("-").partition("=")
    return (path_of(key.strip()), value.strip()) if equals else None


def text(kept: Iterable[Kept], origin: str) -> str:
    """The content of the file."""
    return heading(origin) + "".join(f"{k.attribute} = {k.value}\n" for k in kept)


def plan(kept: Sequence[Kept], origin: str, root: Path = ROOT) -> Rendered:
    """The file beside what the other files say."""
    others = tuple(line for line in dropins.lines(_files(root), root) if line.path != FILE)
    left, told = dropins.judge(kept, lambda setting: _said(setting, others))
    if not left:
        return told
    active = Activation(("sysctl", f"--load={FILE}"))
    expected = tuple(Expected(Path("/proc/sys", path_of(k.attribute)), k.value) for k in left)
    file = dropins.artifact(FILE, text(left, origin), root, (active,), expected)
    return told + Rendered(artifacts=(file,))


def _files(root: Path) -> tuple[Path, ...]:
    found = dropins.files(FILE.parent.name, FILE.suffix, root)
    real = dropins.below(_LAST, root).resolve()
    linked = any(dropins.below(path, root).resolve() == real for path in found)
    return found if linked else (*found, _LAST)


def _said(setting: Kept, others: Sequence[Line]) -> tuple[Said, ...]:
    """What others say about the setting, or about the one that clears it."""
    wanted = path_of(setting.attribute)
    found = []
    for line in others:
        key, value = parse(line.text) or ("", "")
        if key and fnmatchcase(wanted, key):
            found.append(Said(line, value, _wins(line)))
        elif key and key == _CLEARED_BY.get(wanted):
            found.append(Said(line, f"{key} = {value}", _wins(line)))
    return tuple(found)


def _wins(line: Line) -> bool:
    return line.path == _LAST or line.path.name > FILE.name
