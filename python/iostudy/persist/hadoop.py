"""What the site files of a Hadoop cluster are to say: XML to be merged into them by hand.

iostudy never writes to a cluster's configuration: the hosts that have it are not known here, and
tools such as Ambari, Cloudera Manager or Ansible own it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

from iostudy.hadoop.conf.heaps import CLIENT_HEAP, DATANODE_HEAP, NAMENODE_HEAP
from iostudy.persist.kept import Kept
from iostudy.persist.rendered import MARK, Artifact, Rendered, Unkept, printable

KIND = "hadoop"
FOLDER = Path("/etc/hadoop/conf")
"""What stands for the folder of site files, which each cluster has elsewhere."""

_SITES = {
    "dfs.": "hdfs-site.xml",
    "mapreduce.": "mapred-site.xml",
    "yarn.app.mapreduce.": "mapred-site.xml",
    "yarn.": "yarn-site.xml",
}
"""How a name begins -> the file that an administrator looks for it in; the first that fits."""
_COMMON = "core-site.xml"

_HEAPS = {
    NAMENODE_HEAP: "HDFS_NAMENODE_OPTS",
    DATANODE_HEAP: "HDFS_DATANODE_OPTS",
    CLIENT_HEAP: "HADOOP_CLIENT_OPTS",
}


def plan(kept: Sequence[Kept], origin: str) -> Rendered:
    """A fragment for each site file; heaps are no properties, so they are told."""
    properties = [setting for setting in kept if setting.attribute not in _HEAPS]
    heaps = [setting for setting in kept if setting.attribute in _HEAPS]
    files = groupby(sorted(properties, key=_site), key=_site)
    return Rendered(
        artifacts=tuple(Artifact(FOLDER / name, None, _text(own, origin)) for name, own in files),
        unkept=tuple(map(_heap, heaps)),
        notes=("merge this into the cluster's own site files, and restart its daemons",),
    )


def not_of_host(kept: Sequence[Kept]) -> Rendered:
    """That they are a cluster's, for whoever asks for this host's configuration."""
    reason = "it is a setting of a Hadoop cluster, which no configuration of this host holds"
    remedy = f"--format {KIND} prints what the cluster's site files are to say"
    return Rendered(unkept=tuple(Unkept(setting.text, reason, remedy) for setting in kept))


def _site(setting: Kept) -> str:
    own = (file for begin, file in _SITES.items() if setting.attribute.startswith(begin))
    return next(own, _COMMON)


def _text(settings: Iterable[Kept], origin: str) -> str:
    root = ElementTree.Element("configuration")
    # XML allows no two hyphens in a comment.
    told = printable(origin).replace("--", "- -").replace("--", "- -")
    root.append(ElementTree.Comment(f" {MARK}: {told}. "))
    for setting in settings:
        element = ElementTree.SubElement(root, "property")
        ElementTree.SubElement(element, "name").text = setting.attribute
        ElementTree.SubElement(element, "value").text = setting.value
    ElementTree.indent(root)
    return ElementTree.tostring(root, "unicode") + "\n"


def _heap(setting: Kept) -> Unkept:
    variable = _HEAPS[setting.attribute]
    return Unkept(
        setting.text,
        "it is an option of a JVM and no property",
        f"have -Xmx{setting.value} in {variable}, in hadoop-env.sh",
    )
