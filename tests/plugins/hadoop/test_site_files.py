"""Tests of persisted Hadoop site files."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.cli.persist import _print, persist
from iostudy.errors import UsageError
from iostudy.persist.request import PersistedSetting
from iostudy_hadoop.site_files import plan


def properties(*kept: PersistedSetting, origin: str = "a study") -> dict[str, dict[str, str]]:
    """The files that are planned -> what they say."""
    return {
        file.path.name: {
            each.findtext("name", ""): each.findtext("value", "")
            for each in ElementTree.fromstring(file.after).iter("property")
        }
        for file in plan(kept, origin).artifacts
    }


def test_each_property_is_in_the_file_that_hadoop_reads_it_from():
    kept = (
        PersistedSetting("hadoop.yarn.nodemanager.resource.memory-mb", "4096"),
        PersistedSetting("hadoop.dfs.blocksize", "67108864"),
        PersistedSetting("hadoop.mapreduce.task.io.sort.mb", "200"),
        PersistedSetting("hadoop.io.file.buffer.size", "65536"),
        PersistedSetting("hadoop.yarn.app.mapreduce.am.resource.mb", "512"),
        PersistedSetting("hadoop.dfs.replication", "2"),
    )
    assert properties(*kept) == {
        "core-site.xml": {"io.file.buffer.size": "65536"},
        "hdfs-site.xml": {"dfs.blocksize": "67108864", "dfs.replication": "2"},
        "mapred-site.xml": {
            "mapreduce.task.io.sort.mb": "200",
            "yarn.app.mapreduce.am.resource.mb": "512",
        },
        "yarn-site.xml": {"yarn.nodemanager.resource.memory-mb": "4096"},
    }


@given(value=st.text(st.characters(exclude_categories=["C", "Z"])), origin=st.text())
def test_special_characters_in_values_and_study_names_are_escaped(value, origin):
    kept = PersistedSetting("hadoop.mapreduce.map.java.opts", value)
    found = properties(kept, origin=f"configuration -- {origin} -")
    assert found == {"mapred-site.xml": {"mapreduce.map.java.opts": value}}


def test_heap_is_reported_with_its_variable():
    (heap,) = plan([PersistedSetting("hadoop.datanode.heap", "1073741824")], "a study").unsupported
    assert "-Xmx1073741824 in HDFS_DATANODE_OPTS" in heap.remedy


def test_a_fragment_is_shown_below_its_name_and_is_xml_as_a_whole(capsys):
    _print(plan([PersistedSetting("hadoop.dfs.blocksize", "67108864")], "a study"))
    shown = capsys.readouterr().out
    assert shown.startswith("<!-- hdfs-site.xml -->\n<configuration>\n")
    assert ElementTree.fromstring(shown).findtext("property/value") == "67108864"


def test_a_fragment_is_not_installed():
    with pytest.raises(UsageError, match="merge them where the cluster is configured"):
        persist(form="hadoop", install=True)
