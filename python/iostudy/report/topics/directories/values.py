"""Directories that a study compares."""

from __future__ import annotations

from iostudy.report.base import Value


class DirectoryReport(Value):
    """A directory that the study compares, and its mount when the study began."""

    name: str
    """Name of the directory in the study file."""
    path: str
    """Path of the directory."""
    filesystem: str
    """Type of the file system, as the kernel names it."""
    source: str
    """Source of the mount: a device, or a server with its export."""
    mount_point: str
    """Mount point of the file system."""
    options: tuple[str, ...]
    """Options of the mount and of the file system."""
    storage: str
    """``device``, ``memory``, ``network``, ``FUSE process`` or ``other``."""
