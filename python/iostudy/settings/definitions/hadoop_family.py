"""All settings of a Hadoop cluster, and its properties without a description."""

from __future__ import annotations

from iostudy.hadoop.conf.reserved import explain_reserved
from iostudy.hadoop.spec import PREFIX
from iostudy.settings.definitions import hadoop, hdfs, mapreduce
from iostudy.settings.family import SettingFamily

FAMILY = SettingFamily(
    (*hadoop.DEFINITIONS, *hdfs.DEFINITIONS, *mapreduce.DEFINITIONS),
    prefix=PREFIX,
    define=hadoop.define_property,
    explain=lambda name: explain_reserved(name.removeprefix(PREFIX)),
)
