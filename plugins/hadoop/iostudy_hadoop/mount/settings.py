"""Definitions of the settings of mounts of HDFS that `iostudy mount` made."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.settings.definition import Reach, SettingDefinition, SettingFamily, Switching
from iostudy.settings.values import Size
from iostudy_hadoop.fraction import Fraction

_GIB = 1 << 30
_DAY_SECONDS = 86_400
_SOURCE = "fuse_options.c of Hadoop's fuse-dfs (the same names and defaults)"


@dataclass(frozen=True, kw_only=True)
class HdfsMountDefinition(SettingDefinition):
    """A setting that is the extended attribute ``user.iostudy.ATTRIBUTE`` of the mount point."""

    attribute: str
    reach: Reach = Reach.MOUNT


READ_BUFFER = HdfsMountDefinition(
    name="mount.hdfs.rdbuffer",
    attribute="rdbuffer",
    unit="B",
    default="10485760, or the option --rdbuffer of the mount",
    documentation=(
        "Read buffer of each open file of a mount of HDFS. A read that does not follow the one "
        "before fills it, unless the read is as large as the buffer or larger."
    ),
    source=_SOURCE,
    switching=Switching("an open file keeps the buffer of its opening"),
    values=Size(maximum_bytes=_GIB),
    caution="each open file takes that much memory",
)
ATTRIBUTE_TIMEOUT = HdfsMountDefinition(
    name="mount.hdfs.attribute_timeout",
    attribute="attribute_timeout",
    unit="s",
    default="60, or the option --attribute-timeout of the mount",
    documentation=(
        "Time for which the kernel keeps size, times and permissions of a file of a mount of HDFS."
    ),
    source=_SOURCE,
    switching=Switching("the kernel keeps what it has for the time that was in force then"),
    values=Fraction(0, _DAY_SECONDS),
)
ENTRY_TIMEOUT = HdfsMountDefinition(
    name="mount.hdfs.entry_timeout",
    attribute="entry_timeout",
    unit="s",
    default="60, or the option --entry-timeout of the mount",
    documentation="Time for which the kernel keeps a name of a mount of HDFS.",
    source=_SOURCE,
    switching=Switching("the kernel keeps a name for the time that was in force then"),
    values=Fraction(0, _DAY_SECONDS),
)
DEFINITIONS = (READ_BUFFER, ATTRIBUTE_TIMEOUT, ENTRY_TIMEOUT)
FAMILY = SettingFamily(DEFINITIONS)
