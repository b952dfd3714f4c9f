"""Permissions that the user gives a study on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from iostudy.account import Account
from iostudy.settings.identity import ScratchIdentity


@dataclass(frozen=True)
class Permission:
    """The devices to overwrite, and the use of folders that other users can redirect.

    ``scratch`` has the confirmed devices by the paths that the target names; without a confirmation
    a device is the one that its path leads to.
    """

    scratch: Mapping[Path, ScratchIdentity] = field(default_factory=dict)
    unsafe_folders: bool = False


def describe_account(account: Account | None) -> tuple[str, ...]:
    """Say who works in a directory that is not root's; nothing if it is."""
    if account is None:
        return ()
    return (f"files are made, and programs run, as {account.name}, who owns the target",)
