"""The file systems that a scratch disk can be made with."""

from __future__ import annotations

MAKE = {
    # The kernel would write inode tables and journal in the background, into the measurements.
    # No discard: it would punch holes into an image, and make an SSD faster than it is in use.
    "ext4": ("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"),
    "xfs": ("mkfs.xfs", "-q", "-f", "-K"),
}
"""The command that makes each; the device comes last."""

FILESYSTEMS = tuple(MAKE)
