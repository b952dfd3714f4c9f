"""All writers of kernel values, in the order in which they run at boot."""

from __future__ import annotations

from iostudy.host.configuration.assignment import Assignment
from iostudy.host.configuration.services import read_services
from iostudy.host.configuration.sysctl import read_sysctl
from iostudy.host.configuration.tmpfiles import read_tmpfiles
from iostudy.host.configuration.udev import read_udev
from iostudy.host.reader import Reader


def read_writers(reader: Reader) -> tuple[Assignment, ...]:
    """Return what every file sets, in the order of the stages."""
    found = (
        *read_sysctl(reader),
        *read_udev(reader),
        *read_tmpfiles(reader),
        *read_services(reader),
    )
    return tuple(sorted(found, key=lambda line: line.stage))
