"""XML fragments to merge into the site files of a Hadoop cluster.

iostudy never writes to a cluster's configuration: the hosts that have it are not known here, and
tools such as Ambari, Cloudera Manager or Ansible own it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

from iostudy.persist.formats import PluginFormat
from iostudy.persist.plan import MARK, Artifact, PersistencePlan, UnsupportedSetting, to_printable
from iostudy.persist.request import PersistedSetting
from iostudy_hadoop.conf.heaps import CLIENT_HEAP, DATANODE_HEAP, NAMENODE_HEAP

FOLDER = Path("/etc/hadoop/conf")
"""Stands for the folder of site files, whose path depends on the cluster."""

_SITES = {
    "dfs.": "hdfs-site.xml",
    "mapreduce.": "mapred-site.xml",
    "yarn.app.mapreduce.": "mapred-site.xml",
    "yarn.": "yarn-site.xml",
}
"""The site file of each name prefix; the first match applies."""
_COMMON = "core-site.xml"

_MERGE = "merge this into the cluster's own site files, and restart its daemons"
_HEAPS = {
    NAMENODE_HEAP: "HDFS_NAMENODE_OPTS",
    DATANODE_HEAP: "HDFS_DATANODE_OPTS",
    CLIENT_HEAP: "HADOOP_CLIENT_OPTS",
}


def plan(
    kept: Sequence[PersistedSetting], origin: str, provenance: Sequence[str] = ()
) -> PersistencePlan:
    """Return a fragment for each site file; heaps are no properties, so they become notes."""
    properties = [setting for setting in kept if setting.attribute not in _HEAPS]
    heaps = [setting for setting in kept if setting.attribute in _HEAPS]
    files = groupby(sorted(properties, key=_site), key=_site)
    return PersistencePlan(
        artifacts=tuple(
            Artifact(FOLDER / name, None, _text(content, origin, provenance))
            for name, content in files
        ),
        unsupported=tuple(map(_heap, heaps)),
        notes=(_MERGE,) if properties else (),
    )


def _site(setting: PersistedSetting) -> str:
    files = (file for begin, file in _SITES.items() if setting.attribute.startswith(begin))
    return next(files, _COMMON)


def _text(settings: Iterable[PersistedSetting], origin: str, provenance: Sequence[str]) -> str:
    root = ElementTree.Element("configuration")
    for line in (f"{MARK}: {origin}.", *provenance):
        # XML allows no two hyphens in a comment.
        text = to_printable(line).replace("--", "- -").replace("--", "- -")
        root.append(ElementTree.Comment(f" {text} "))
    for setting in settings:
        element = ElementTree.SubElement(root, "property")
        ElementTree.SubElement(element, "name").text = setting.attribute
        ElementTree.SubElement(element, "value").text = setting.value
    ElementTree.indent(root)
    return ElementTree.tostring(root, "unicode") + "\n"


def _heap(setting: PersistedSetting) -> UnsupportedSetting:
    variable = _HEAPS[setting.attribute]
    return UnsupportedSetting(
        setting.text,
        "it is an option of a JVM and no property",
        f"have -Xmx{setting.value} in {variable}, in hadoop-env.sh",
    )


FORMAT = PluginFormat(
    reason="it is a setting of a Hadoop cluster, which no configuration of this host holds",
    remedy="--format hadoop prints what the cluster's site files are to say",
    plan=plan,
    what="site files of a Hadoop cluster",
    use="merge them where the cluster is configured",
    undo="Undo: remove these properties from the cluster's file and restart it.",
)
MOUNT_FORMAT = PluginFormat(
    reason="the server of the mount has it as long as it runs",
    remedy="give it to `iostudy mount` as an option",
)
