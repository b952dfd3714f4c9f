"""Kernel modules that volumes need."""

from __future__ import annotations

from iostudy.errors import TargetError
from iostudy.host.files import ROOT
from iostudy.settings import commands
from iostudy.settings.commands import CommandError
from iostudy.settings.scratch.volume.layout import VolumeLayout


def require(layout: VolumeLayout) -> None:
    """TargetError names the modules that this kernel neither has nor can load."""
    missing = [name for name in layout.properties.modules if not _is_available(name)]
    if missing:
        raise TargetError(
            f"a kernel with {', '.join(missing)}, for {layout.describe()}",
            found="it has no such module",
            where=f"the kernel {_release()}",
            remedy="boot a kernel that has it, or choose a target without a volume",
        )


def _is_available(name: str) -> bool:
    """Return whether the module is loaded, built in, or can be loaded; it is not loaded here."""
    if (ROOT / "sys/module" / name).exists():
        return True
    try:
        commands.run("modprobe", "--dry-run", "--quiet", name)
    except CommandError:
        return False
    return True


def _release() -> str:
    return (ROOT / "proc/sys/kernel/osrelease").read_text().strip()
