"""What the user agrees to on the command line, or when asked."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import typer

from iostudy.cli.console import say
from iostudy.errors import UsageError
from iostudy.folders import INSIST
from iostudy.node.permission import Permission
from iostudy.settings.identity import DiskIdentity, ScratchIdentity
from iostudy.settings.scratch import steps
from iostudy.study.model import Study
from iostudy.study.targets import ScratchTarget


@dataclass(frozen=True)
class Consent:
    """Options of the command line: ``--yes`` and ``--unsafe-folders``."""

    destroy: bool = False
    unsafe_folders: bool = False

    def repeated(self) -> list[str]:
        """The options that a command to resume the study needs again, but for --yes."""
        return [INSIST] if self.unsafe_folders else []


def ask_permission(study: Study, consent: Consent) -> Permission:
    """A device is only written to after --yes, or after its name was typed.

    The permission holds the device that the user has seen: its name may lead elsewhere afterwards.
    """
    if not isinstance(study.target, ScratchTarget):
        return Permission(unsafe_folders=consent.unsafe_folders)
    path = study.target.device
    found = ScratchIdentity.at(path)
    with steps.opened(path, found) as descriptor:
        shown = DiskIdentity.at(steps.node_of(descriptor)).describe()
    say(f"All data on {shown} will be destroyed.")
    if not consent.destroy:
        _confirm(study.name, str(path))
    return Permission(found, unsafe_folders=consent.unsafe_folders)


def _confirm(study: str, device: str) -> None:
    """UsageError unless somebody types the name of the device."""
    found = "nobody is there to ask (no terminal)"
    if sys.stdin.isatty():
        if typer.prompt(f"Type {device} to go on", err=True) == device:
            return
        found = "the name was not typed"
    raise UsageError(
        f"leave to destroy all data on {device}",
        found=found,
        where=study,
        remedy="give --yes, or type the device's name when asked",
    )
