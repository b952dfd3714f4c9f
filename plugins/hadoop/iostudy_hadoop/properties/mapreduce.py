"""Properties of MapReduce jobs, and of YARN, which gives them containers."""

from __future__ import annotations

from iostudy.settings.values import Integer, TextLine, Values
from iostudy_hadoop.fraction import Fraction
from iostudy_hadoop.properties.definition import (
    LARGEST_INT,
    SWITCH,
    HadoopDefinition,
    HadoopSize,
    Scope,
    TaskRunner,
    definition,
)

_DEFAULTS = "mapred-default.xml"
_MEBIBYTES = Integer(1, LARGEST_INT, "MiB")
_TASKS = Integer(1, 4096, "tasks")
_JVM_OPTIONS = TextLine("-Xmx1024m")


def _job(
    key: str,
    values: Values,
    default: str,
    documentation: str,
    source: str = _DEFAULTS,
    *,
    runner: TaskRunner | None = None,
    native: bool = False,
) -> HadoopDefinition:
    return definition(
        key,
        values,
        default,
        documentation,
        source,
        scope=Scope.JOB,
        runner=runner,
        native=native,
    )


def _yarn(key: str, values: Values, default: str, documentation: str) -> HadoopDefinition:
    return definition(
        key,
        values,
        default,
        documentation,
        "yarn-default.xml",
        scope=Scope.DAEMONS,
        runner=TaskRunner.YARN,
    )


_JOBS = (
    _job(
        "mapreduce.task.io.sort.mb",
        Integer(1, 2047, "MiB"),
        "100",
        "Sort buffer of a map task. Output that does not fit is spilled to disk and merged. The "
        "buffer must fit in the heap of the task.",
        f"{_DEFAULTS}; MapTask.java",
    ),
    _job(
        "mapreduce.task.io.sort.factor",
        Integer(2, LARGEST_INT, "files"),
        "10",
        "Number of sorted files merged at once. More files need several rounds, each of which "
        "reads and writes all of them.",
    ),
    _job(
        "mapreduce.map.sort.spill.percent",
        Fraction(0.01, 1.0),
        "0.80",
        "Fill level of the sort buffer, as a fraction, at which a thread starts to spill it to "
        "disk.",
    ),
    _job(
        "mapreduce.map.output.compress",
        SWITCH,
        "false",
        "Whether map tasks compress spills and map output: CPU time in exchange for less I/O.",
    ),
    _job(
        "mapreduce.map.output.compress.codec",
        TextLine("org.apache.hadoop.io.compress.SnappyCodec"),
        "org.apache.hadoop.io.compress.DefaultCodec (zlib)",
        "Codec for map output: the name of a class. Some codecs need Hadoop's native library or "
        "an additional jar.",
    ),
    _job(
        "mapreduce.ifile.readahead",
        SWITCH,
        "true",
        "Whether the kernel reads ahead in files of map output during fetch and merge.",
        native=True,
    ),
    _job(
        "mapreduce.ifile.readahead.bytes",
        HadoopSize(1, LARGEST_INT),
        "4 MiB",
        "Read-ahead in files of map output.",
        native=True,
    ),
    _job(
        "mapreduce.input.fileinputformat.split.minsize",
        HadoopSize(0),
        "0: a block",
        "Minimum split size of a map task. More than a block makes fewer, longer tasks.",
    ),
    _job(
        "mapreduce.reduce.shuffle.input.buffer.percent",
        Fraction(),
        "0.70",
        "Fraction of a reduce task's heap for map output; the rest goes to disk.",
    ),
    _job(
        "mapreduce.reduce.shuffle.parallelcopies",
        Integer(1, 4096, "transfers"),
        "5",
        "Number of map outputs that a reduce task fetches at once.",
        f"{_DEFAULTS}; Shuffle.java",
        runner=TaskRunner.YARN,
    ),
    _job(
        "mapreduce.job.reduce.slowstart.completedmaps",
        Fraction(),
        "0.05",
        "Fraction of completed map tasks at which reduce tasks start to fetch.",
        runner=TaskRunner.YARN,
    ),
    _job(
        "mapreduce.map.speculative",
        SWITCH,
        "true",
        "Whether a slow map task gets a second, parallel attempt. Such an attempt makes a trial "
        "invalid, so clusters that iostudy starts have it off.",
        runner=TaskRunner.YARN,
    ),
    _job(
        "mapreduce.reduce.speculative",
        SWITCH,
        "true",
        "Whether a slow reduce task gets a second, parallel attempt.",
        runner=TaskRunner.YARN,
    ),
    _job(
        "mapreduce.job.ubertask.enable",
        SWITCH,
        "false",
        "Whether a small job runs entirely in the container of its application master.",
        runner=TaskRunner.YARN,
    ),
    _job(
        "mapreduce.map.memory.mb",
        _MEBIBYTES,
        "1024, or as mapreduce.map.java.opts requires",
        "Container memory of a map task, which limits how many run at once.",
        runner=TaskRunner.YARN,
    ),
    _job(
        "mapreduce.reduce.memory.mb",
        _MEBIBYTES,
        "1024, or as mapreduce.reduce.java.opts requires",
        "Container memory of a reduce task.",
        runner=TaskRunner.YARN,
    ),
    _job(
        "mapreduce.map.java.opts",
        _JVM_OPTIONS,
        "a heap of 0.8 of the container",
        "Options of a map task's JVM. Its heap must fit in its container.",
        f"{_DEFAULTS}, mapreduce.job.heap.memory-mb.ratio",
        runner=TaskRunner.YARN,
    ),
    _job(
        "mapreduce.reduce.java.opts",
        _JVM_OPTIONS,
        "a heap of 0.8 of the container",
        "Options of a reduce task's JVM.",
        f"{_DEFAULTS}, mapreduce.job.heap.memory-mb.ratio",
        runner=TaskRunner.YARN,
    ),
    _job(
        "yarn.app.mapreduce.am.resource.mb",
        _MEBIBYTES,
        "1536",
        "Container memory of a job's application master.",
        runner=TaskRunner.YARN,
    ),
    _job(
        "mapreduce.local.map.tasks.maximum",
        _TASKS,
        "1",
        "Maximum number of concurrent map tasks. All share the heap of the client "
        "(hadoop.client.heap).",
        "LocalJobRunner.java; no file of defaults names it",
        runner=TaskRunner.LOCAL,
    ),
    _job(
        "mapreduce.local.reduce.tasks.maximum",
        _TASKS,
        "1",
        "Maximum number of concurrent reduce tasks.",
        "LocalJobRunner.java; no file of defaults names it",
        runner=TaskRunner.LOCAL,
    ),
)

_CONTAINERS = (
    _yarn(
        "yarn.nodemanager.resource.memory-mb",
        _MEBIBYTES,
        "8192",
        "Memory of a NodeManager for containers.",
    ),
    _yarn(
        "yarn.nodemanager.resource.cpu-vcores",
        Integer(1, 4096, "cores"),
        "8",
        "Number of cores of a NodeManager for containers. It does not limit the CPUs that "
        "containers use.",
    ),
    _yarn(
        "yarn.scheduler.minimum-allocation-mb",
        _MEBIBYTES,
        "1024",
        "Minimum memory of a container, whatever its task requests.",
    ),
    _yarn(
        "yarn.scheduler.maximum-allocation-mb",
        _MEBIBYTES,
        "8192",
        "Maximum memory of a container; YARN refuses larger requests.",
    ),
)

DEFINITIONS = (*_JOBS, *_CONTAINERS)
