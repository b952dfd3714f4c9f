"""Consent of the user, given on the command line or at a prompt."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import typer

from iostudy.cli.console import say
from iostudy.errors import TargetError, UsageError
from iostudy.execution.session import target_identities
from iostudy.folders import UNSAFE_FOLDERS_OPTION
from iostudy.ledger.rows import StudyRow
from iostudy.node.conditions import Permission
from iostudy.node.target_devices import device_identities
from iostudy.settings.identity import DiskIdentity, ScratchIdentity
from iostudy.settings.scratch import steps
from iostudy.study.model import Study


@dataclass(frozen=True)
class Consent:
    """Options of the command line: ``--yes`` and ``--unsafe-folders``."""

    destroy: bool = False
    unsafe_folders: bool = False

    def resume_options(self) -> list[str]:
        """Options to repeat when the study is resumed, except --yes."""
        return [UNSAFE_FOLDERS_OPTION] if self.unsafe_folders else []


def ask_permission(study: Study, consent: Consent, recorded: StudyRow | None) -> Permission:
    """Ask before devices are overwritten, unless --yes was given.

    The permission contains their identities, since a name may lead elsewhere later. TargetError if
    a study that is resumed, as ``recorded``, would overwrite a device that it did not begin on.
    """
    devices = study.target.destroyed
    if recorded is not None:
        began_on = target_identities(recorded.circumstances)
        for path in devices:
            _require_same_device(path, began_on)
    confirmed = {path: ask_destruction(path, study.name, consent) for path in devices}
    return Permission(confirmed, consent.unsafe_folders)


def _require_same_device(path: Path, began_on: Sequence[str]) -> None:
    now = device_identities(path)
    if not set(now) <= set(began_on):
        raise TargetError(
            "to resume the study on the device that it began on",
            found=f"{path} is {'; '.join(now)}, and was {'; '.join(began_on)}",
            where="target",
            remedy="connect that device under this path, or start again in another folder",
        )


def ask_destruction(path: Path, where: str, consent: Consent) -> ScratchIdentity:
    """Ask before a device is overwritten, unless --yes was given; return what was confirmed.

    TargetError if the device is used. ``where`` names the request in an error.
    """
    identity = ScratchIdentity.from_path(path)
    with steps.open_verified(path, identity) as descriptor:
        shown = DiskIdentity.from_path(steps.descriptor_path(descriptor)).describe()
    say(f"All data on {shown} will be destroyed.")
    if not consent.destroy:
        _confirm(where, str(path))
    return identity


def _confirm(where: str, device: str) -> None:
    """Raise UsageError unless the user types the name of the device."""
    answer = "no terminal to ask on"
    if sys.stdin.isatty():
        answer = "the name was not typed"
        with suppress(typer.Abort):  # end of input
            if typer.prompt(f"Type {device} to continue", err=True) == device:
                return
    raise UsageError(
        f"consent to destroy all data on {device}",
        found=answer,
        where=where,
        remedy="give --yes, or type the device's name at the prompt",
    )
