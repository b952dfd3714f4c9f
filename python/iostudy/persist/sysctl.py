"""Sysctls as a file in sysctl.d.

Source: sysctl.d(5), systemd-sysctl.service(8), sysctl(8).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from iostudy.host.configuration.assignment import Assignment, Stage
from iostudy.host.configuration.writers import dotted, sysctl_path
from iostudy.persist import dropins
from iostudy.persist.dropins import ExistingLine
from iostudy.persist.plan import Activation, Expected, PersistencePlan, format_heading
from iostudy.persist.request import PersistedSetting, PersistRequest
from iostudy.settings.sysctl_keys import COUNTERPARTS, key_path

FILE = Path("/etc/sysctl.d/90-iostudy.conf")


def text(kept: Iterable[PersistedSetting], origin: str) -> str:
    """Return the content of the file."""
    return format_heading(origin) + "".join(f"{k.attribute} = {k.value}\n" for k in kept)


def plan(kept: Sequence[PersistedSetting], request: PersistRequest, root: Path) -> PersistencePlan:
    """Return the file and its conflicts with other files."""
    others = dropins.read_other_writers(root, FILE)
    left, result = dropins.compare_with_existing((k, _find_existing(k, others)) for k in kept)
    if not left:
        return result
    active = Activation(("sysctl", f"--load={FILE}"))
    expected = tuple(Expected(Path("/proc/sys", key_path(k.attribute)), k.value) for k in left)
    file = dropins.build_artifact(FILE, text(left, request.origin), root, (active,), expected)
    return result + PersistencePlan(artifacts=(file,))


def _find_existing(
    setting: PersistedSetting, others: Sequence[Assignment]
) -> tuple[ExistingLine, ...]:
    """Find other writers of the setting, or of the one that clears it, the effective one last.

    A line for the key itself takes precedence over patterns, wherever they stand.
    """
    key = dotted(setting.attribute)
    path, clearing = sysctl_path(key), COUNTERPARTS.get(key)
    matching = []
    for line in others:
        is_pattern = line.stage is Stage.SYSCTL and line.path != path
        wins = not is_pattern and dropins.overrides(line, FILE, Stage.SYSCTL)
        if line.writes(path):
            value = line.text if line.cancels else line.value
            matching.append((not is_pattern, ExistingLine(line, value, wins)))
        elif clearing and line.writes(sysctl_path(clearing)):
            wins = dropins.overrides(line, FILE, Stage.SYSCTL)
            matching.append((not is_pattern, ExistingLine(line, line.text, wins)))
    return tuple(line for _, line in sorted(matching, key=lambda pair: pair[0]))
