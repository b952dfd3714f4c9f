"""Properties of Hadoop as settings: those that are described, and any other by its name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.settings import catalog
from iostudy.settings.definition import Cost, Reach
from iostudy.settings.values import AS_FOUND
from iostudy_hadoop.conf.reserved import explain_reserved
from iostudy_hadoop.fraction import Fraction
from iostudy_hadoop.properties.definition import (
    HadoopDefinition,
    Scope,
    TaskRunner,
    define_property,
)
from iostudy_hadoop.spec import PREFIX


def property_(key: str) -> HadoopDefinition:
    definition = catalog.get(PREFIX + key)
    assert isinstance(definition, HadoopDefinition)
    return definition


DESCRIBED = [name for name in catalog.names() if name.startswith(PREFIX)]


def test_those_that_are_described():
    for name in DESCRIBED:
        definition = property_(name.removeprefix(PREFIX))
        assert definition.reach is Reach.CLUSTER
        assert definition.parse(AS_FOUND) == AS_FOUND
        assert (definition.cost is Cost.RESTART) == (definition.scope is Scope.DAEMONS), name
        assert not explain_reserved(definition.key)


def test_a_name_alone_takes_no_property_of_daemons_for_one_of_jobs():
    """But for one that DataNodes read as well, since they listen on a socket for it."""
    missed = [
        name
        for name in DESCRIBED
        if not name.endswith(".heap")
        if property_(name.removeprefix(PREFIX)).scope is Scope.DAEMONS
        if define_property(name).scope is Scope.JOB
    ]
    assert missed == ["hadoop.dfs.client.read.shortcircuit"]


@pytest.mark.parametrize(
    ("key", "scope"),
    [
        ("dfs.image.compress", Scope.DAEMONS),
        ("dfs.heartbeat.interval", Scope.DAEMONS),
        ("dfs.datanode.scan.period.hours", Scope.DAEMONS),
        ("dfs.client.socket-timeout", Scope.JOB),
        ("dfs.client-write-x", Scope.JOB),
        ("yarn.resourcemanager.scheduler.class", Scope.DAEMONS),
        ("yarn.app.mapreduce.am.job.task.listener.thread-count", Scope.JOB),
        ("mapreduce.job.queuename", Scope.JOB),
        ("mapreduce.shuffle.max.threads", Scope.DAEMONS),
        ("mapreduce.reduce.shuffle.merge.percent", Scope.JOB),
        ("io.compression.codecs", Scope.JOB),
        ("ipc.client.idlethreshold", Scope.DAEMONS),
        ("fs.trash.interval", Scope.DAEMONS),
        ("hadoop.caller.context.enabled", Scope.DAEMONS),
    ],
)
def test_any_other_property_is_a_setting(key, scope):
    definition = property_(key)
    assert definition.key == key
    assert definition.scope is scope
    assert definition.cost is (Cost.RESTART if scope is Scope.DAEMONS else Cost.CHEAP)
    assert "without a definition in iostudy" in definition.documentation
    assert f"read by {scope}" in definition.applies_to
    assert "Hadoop ignores unknown names" in definition.caution
    assert definition.parse(" some, text ") == "some, text"


@pytest.mark.parametrize(
    "name",
    [
        "hadoop.",
        "hadoop.blocksize",
        "hadoop.tmp.dir",  # hadoop.hadoop.tmp.dir, which is reserved
        "hadoop.hadoop.tmp.dir",
        "hadoop.fs.defaultFS",
        "hadoop.dfs.",
        "hadoop.dfs.block size",
        "hadoop.dfs.größe",
        "dfs.image.compress",
    ],
)
def test_invalid_properties_are_refused(name):
    with pytest.raises(KeyError):
        catalog.get(name)


@given(st.text())
def test_any_name_is_a_property_or_none(text):
    try:
        definition = property_(text)
    except KeyError:
        return
    assert definition.name == PREFIX + text
    assert not explain_reserved(text)
    assert text.isprintable()
    assert not any(map(str.isspace, text))


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("dfs.blocksize", "64MiB", str(64 << 20)),
        ("dfs.blocksize", "64m", str(64 << 20)),
        ("dfs.blocksize", "1G", str(1 << 30)),
        ("dfs.replication", "02", "2"),
        ("datanode.heap", "1GiB", str(1 << 30)),
        ("mapreduce.map.sort.spill.percent", "0.80", "0.8"),
        ("mapreduce.job.reduce.slowstart.completedmaps", "1", "1"),
        ("mapreduce.map.java.opts", "-Xmx1g -XX:+UseParallelGC", "-Xmx1g -XX:+UseParallelGC"),
    ],
)
def test_values_are_what_a_site_file_takes(key, text, value):
    assert property_(key).parse(text) == value


@pytest.mark.parametrize(
    ("key", "text", "why"),
    [
        ("dfs.blocksize", "4KiB", "allowed: 1MiB to 1TiB"),
        ("dfs.replication", "0", "allowed: 1 to 64 replicas"),
        ("mapreduce.task.io.sort.mb", "2048", "allowed: 1 to 2047 MiB"),
        ("mapreduce.map.sort.spill.percent", "80%", "not a number such as 0.05"),
        ("mapreduce.map.sort.spill.percent", "0.00", "allowed: 0.01 to 1"),
        ("dfs.checksum.type", "crc32c", "allowed: CRC32C, CRC32, NULL"),
        ("client.heap", "1MiB", "allowed: 16MiB"),
    ],
)
def test_values_that_are_refused(key, text, why):
    with pytest.raises(ValueError, match=why):
        property_(key).parse(text)


@given(st.decimals(0, 1, places=9))
def test_a_fraction_is_written_one_way(number):
    parsed = Fraction().parse(f"{number:.9f}")
    assert float(parsed) == float(number)
    assert Fraction().parse(parsed) == parsed


def test_properties_of_a_single_runner():
    assert property_("mapreduce.map.memory.mb").runner is TaskRunner.YARN
    assert property_("mapreduce.local.map.tasks.maximum").runner is TaskRunner.LOCAL
    assert property_("yarn.nodemanager.container-monitor.interval-ms").runner is TaskRunner.YARN
    assert property_("mapreduce.task.io.sort.mb").runner is None
    assert "effective with YARN only" in property_("mapreduce.map.memory.mb").applies_to


def test_properties_that_need_the_native_library_declare_it():
    native = [name for name in DESCRIBED if "native library" in catalog.get(name).caution]
    assert "hadoop.dfs.datanode.readahead.bytes" in native
    assert "hadoop.dfs.datanode.synconclose" not in native
