"""Permissions that the user gives a study on this machine."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.settings.identity import ScratchIdentity


@dataclass(frozen=True)
class Permission:
    """The scratch device to format, and the use of folders that other users can redirect.

    ``scratch`` is None without a confirmation; the device is then the one that the target names.
    """

    scratch: ScratchIdentity | None = None
    unsafe_folders: bool = False
