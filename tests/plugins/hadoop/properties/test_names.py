"""Hadoop ignores a name that it does not know: each that is described is one of Hadoop's."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from iostudy.settings import catalog
from iostudy_hadoop.spec import PREFIX

DEFAULTS = ("core-default.xml", "hdfs-default.xml", "mapred-default.xml", "yarn-default.xml")


@pytest.fixture(scope="module")
def jars(distribution) -> list[zipfile.ZipFile]:
    """Hadoop's own jars."""
    folders = [Path(entry).parent for entry in distribution.classpath.split(":")]
    found = [jar for folder in dict.fromkeys(folders) for jar in folder.glob("hadoop-*.jar")]
    return [zipfile.ZipFile(jar) for jar in sorted(found)]


def test_every_name_is_in_hadoops_defaults_or_in_its_programs(jars):
    described = {n.removeprefix(PREFIX) for n in catalog.names() if n.startswith(PREFIX)}
    left = {name for name in described if not name.endswith(".heap")} - with_default(jars)
    assert left == {
        "dfs.datanode.synconclose",
        "mapreduce.local.map.tasks.maximum",
        "mapreduce.local.reduce.tasks.maximum",
        "mapreduce.map.java.opts",
        "mapreduce.reduce.java.opts",
    }
    assert left <= in_programs(jars, left)


def with_default(jars: list[zipfile.ZipFile]) -> set[str]:
    """The names in Hadoop's files of defaults."""
    files = [jar.read(name) for jar in jars for name in DEFAULTS if name in jar.namelist()]
    return {
        (each.findtext("name") or "").strip()
        for file in files
        for each in ElementTree.fromstring(file).iter("property")
    }


def in_programs(jars: list[zipfile.ZipFile], names: set[str]) -> set[str]:
    """Those of the names that a class of Hadoop's has as a constant, as a whole."""
    # A constant in a class file: its length in two bytes, then its text (JVMS 4.4.7).
    constants = {name: len(name).to_bytes(2) + name.encode() for name in names}
    found = set()
    for jar in jars:
        for entry in (each for each in jar.namelist() if each.endswith(".class")):
            code = jar.read(entry)
            found |= {name for name, constant in constants.items() if constant in code}
    return found
