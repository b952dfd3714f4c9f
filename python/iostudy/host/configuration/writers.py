"""All writers of kernel values, in the order in which they run at boot."""

from __future__ import annotations

from iostudy.host.configuration.assignment import Assignment
from iostudy.host.configuration.services import read_services
from iostudy.host.configuration.sysctl import read_sysctl
from iostudy.host.configuration.tmpfiles import read_tmpfiles
from iostudy.host.configuration.tuned import read_tuned
from iostudy.host.configuration.udev import read_udev
from iostudy.host.files import Reader


def read_writers(reader: Reader) -> tuple[Assignment, ...]:
    """Return what every file sets, in the order of the stages."""
    read = (read_sysctl, read_udev, read_tmpfiles, read_services, read_tuned)
    found = (line for read_format in read for line in read_format(reader))
    return tuple(sorted(found, key=lambda line: line.stage))
