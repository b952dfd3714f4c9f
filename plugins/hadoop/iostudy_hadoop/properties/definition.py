"""Common definitions of Hadoop properties and JVM heaps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from iostudy.settings.definition import Cost, Reach, SettingDefinition, Switching
from iostudy.settings.values import Choice, Size, TextLine, Values
from iostudy_hadoop.conf.configuration import SIZE, size_bytes
from iostudy_hadoop.conf.reserved import explain_reserved
from iostudy_hadoop.spec import PREFIX

SWITCH = Choice(("true", "false"))
LARGEST_INT = (1 << 31) - 1
_RELEASE = "Apache Hadoop 3.4.2"
_NATIVE = "it has no effect without Hadoop's native library; check with `hadoop checknative`"
_MISSPELT = "Hadoop ignores unknown names: check the spelling"


class Scope(StrEnum):
    """Who reads a property: each JOB when it begins, or the DAEMONS when they are started."""

    JOB = "each job"
    DAEMONS = "the daemons, at their start"


class TaskRunner(StrEnum):
    """What runs the tasks of a job: containers of YARN, or one process."""

    YARN = "YARN"
    LOCAL = "the local runner"


@dataclass(frozen=True)
class HadoopSize(Size):
    """A size that may also be written as site files have it: ``64m`` is 64 MiB."""

    @property
    def allowed(self) -> str:
        """Both forms, and the limits."""
        return f"{super().allowed}; or as in a site file, such as 64m"

    def parse(self, text: str) -> str:
        """The number of bytes."""
        is_short = SIZE.fullmatch(text.strip())
        return super().parse(str(size_bytes(text)) if is_short else text)


_SWITCHING = Switching("a job or daemon reads its properties at its start")


@dataclass(frozen=True, kw_only=True)
class HadoopDefinition(SettingDefinition):
    """A setting that is a property in Hadoop's site files, ``hadoop.`` before its own name.

    One that ``shapes_data`` is stored with the files of HDFS: what a trial reads has been written
    with its level. ``runner`` is the only one under which it does anything, None both. One that is
    ``native`` does nothing without Hadoop's native library.
    """

    scope: Scope
    shapes_data: bool = False
    native: bool = False
    runner: TaskRunner | None = None
    reach: Reach = Reach.CLUSTER
    switching: Switching = _SWITCHING

    @property
    def key(self) -> str:
        """Hadoop's own name of it."""
        return self.name.removeprefix(PREFIX)

    @property
    def applies_to(self) -> str:
        """What it concerns, who reads it, and under which runner it does anything."""
        text = f"{self.reach}; read by {self.scope}"
        return text + (f"; effective with {self.runner} only" if self.runner else "")


_SCOPES = {
    "dfs.": Scope.DAEMONS,
    "dfs.client": Scope.JOB,
    "dfs.data.transfer.client.": Scope.JOB,
    "yarn.": Scope.DAEMONS,
    "yarn.app.mapreduce.": Scope.JOB,
    "mapreduce.": Scope.JOB,
    "mapreduce.shuffle.": Scope.DAEMONS,
    "mapreduce.jobhistory.": Scope.DAEMONS,
    "fs.": Scope.JOB,
    "fs.du.": Scope.DAEMONS,
    "fs.getspaceused.": Scope.DAEMONS,
    "fs.protected.": Scope.DAEMONS,
    "fs.trash.": Scope.DAEMONS,
    "file.": Scope.JOB,
    "tfile.": Scope.JOB,
    "io.": Scope.DAEMONS,
    "io.compression.": Scope.JOB,
    "io.seqfile.": Scope.JOB,
    "ipc.": Scope.DAEMONS,
    "net.": Scope.DAEMONS,
    "ha.": Scope.DAEMONS,
    "rpc.": Scope.DAEMONS,
    "hadoop.": Scope.DAEMONS,
}
"""How names begin -> who reads them; the longest beginning holds. What jobs read as well is the
daemons': a restart is for nothing then, but a property that nobody reads anew would look as if it
made no difference. From the classes of Apache Hadoop 3.4.2 that name each property."""


def definition(
    key: str,
    values: Values,
    default: str,
    documentation: str,
    source: str,
    *,
    scope: Scope,
    shapes_data: bool = False,
    runner: TaskRunner | None = None,
    native: bool = False,
) -> HadoopDefinition:
    """That of a property."""
    return HadoopDefinition(
        name=PREFIX + key,
        values=values,
        unit="B" if isinstance(values, Size) else getattr(values, "unit", ""),
        default=default,
        documentation=documentation,
        source=f"{source} ({_RELEASE})",
        scope=scope,
        cost=Cost.RESTART if scope is Scope.DAEMONS else Cost.CHEAP,
        shapes_data=shapes_data,
        runner=runner,
        native=native,
        caution=_NATIVE if native else "",
    )


def define_property(name: str) -> HadoopDefinition:
    """Return the definition of any property, ``hadoop.dfs.image.compress``; otherwise KeyError."""
    key = name.removeprefix(PREFIX)
    begins = max((prefix for prefix in _SCOPES if key.startswith(prefix)), key=len, default=None)
    spelt = re.fullmatch(r"(?!hadoop\.(dfs|yarn|mapreduce|\w+\.heap))[\w.-]*\w", key, re.ASCII)
    if not name.startswith(PREFIX) or begins is None or not spelt or explain_reserved(key):
        raise KeyError(name)
    scope = _SCOPES[begins]
    return HadoopDefinition(
        name=name,
        values=TextLine("64 or true"),
        default="as in Hadoop's default files or the cluster's site files",
        documentation=(
            "A property without a definition in iostudy; its value is passed to Hadoop unchanged. "
            "Its name determines which processes read it."
        ),
        source="core-default.xml, hdfs-default.xml, mapred-default.xml, yarn-default.xml",
        scope=scope,
        cost=Cost.RESTART if scope is Scope.DAEMONS else Cost.CHEAP,
        runner=TaskRunner.YARN if key.startswith("yarn.") else None,
        caution=_MISSPELT,
    )


def _heap(process: str, owner: str, scope: Scope) -> HadoopDefinition:
    return definition(
        f"{process}.heap",
        HadoopSize(16 << 20, 1 << 40),
        "as in the cluster's own start-up; without one, a JVM uses up to 1/4 of the memory",
        f"Maximum heap of {owner} (-Xmx). It is not a Hadoop property.",
        "java(1), -Xmx; hadoop-env.sh",
        scope=scope,
    )


DEFINITIONS = (
    definition(
        "io.file.buffer.size",
        HadoopSize(1, LARGEST_INT),
        "4 KiB",
        "Buffer size of reads and writes of clients, of DataNodes towards clients and disks, and "
        "of sequence files. Preferably a multiple of 4 KiB.",
        "core-default.xml; DataXceiver.java, BlockSender.java",
        scope=Scope.DAEMONS,
    ),
    _heap("namenode", "the NameNode", Scope.DAEMONS),
    _heap("datanode", "each DataNode", Scope.DAEMONS),
    _heap(
        "client",
        "the process that submits a job; with the local runner it runs the whole job",
        Scope.JOB,
    ),
)
