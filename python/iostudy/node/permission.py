"""What the user allows a study to do to this machine."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.settings.identity import ScratchIdentity


@dataclass(frozen=True)
class Permission:
    """The scratch device to destroy, and whether folders that others can redirect are used.

    ``scratch`` is None where nobody was asked: then it is the device that the target names.
    """

    scratch: ScratchIdentity | None = None
    unsafe_folders: bool = False
