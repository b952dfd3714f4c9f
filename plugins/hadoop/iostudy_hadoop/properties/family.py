"""All settings of a Hadoop cluster, and its properties without a description."""

from __future__ import annotations

from iostudy.settings.definition import SettingFamily
from iostudy_hadoop.conf.reserved import explain_reserved
from iostudy_hadoop.properties import definition as hadoop
from iostudy_hadoop.properties import hdfs, mapreduce
from iostudy_hadoop.spec import PREFIX

FAMILY = SettingFamily(
    (*hadoop.DEFINITIONS, *hdfs.DEFINITIONS, *mapreduce.DEFINITIONS),
    prefix=PREFIX,
    define=hadoop.define_property,
    explain=lambda name: explain_reserved(name.removeprefix(PREFIX)),
)
