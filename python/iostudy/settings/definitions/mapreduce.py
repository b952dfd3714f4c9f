"""Properties of MapReduce jobs, and of YARN, which gives them containers."""

from __future__ import annotations

from iostudy.settings.definitions.hadoop import (
    LARGEST_INT,
    SWITCH,
    HadoopDefinition,
    HadoopSize,
    Runner,
    Scope,
    definition,
)
from iostudy.settings.values import Fraction, Line, Values, Whole

_DEFAULTS = "mapred-default.xml"
_MEBIBYTES = Whole(1, LARGEST_INT, "MiB")
_TASKS = Whole(1, 4096, "tasks")
_JVM_OPTIONS = Line("-Xmx1024m")


def _job(
    key: str,
    values: Values,
    default: str,
    documentation: str,
    source: str = _DEFAULTS,
    *,
    runner: Runner | None = None,
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
        runner=Runner.YARN,
    )


_JOBS = (
    _job(
        "mapreduce.task.io.sort.mb",
        Whole(1, 2047, "MiB"),
        "100",
        "The buffer in which a map task sorts its output. What does not fit is spilled to disk "
        "and merged. It must fit in the heap of the task.",
        f"{_DEFAULTS}; MapTask.java",
    ),
    _job(
        "mapreduce.task.io.sort.factor",
        Whole(2, LARGEST_INT, "files"),
        "10",
        "How many sorted files are merged at once; more of them are merged in several rounds, "
        "each of which reads and writes them all.",
    ),
    _job(
        "mapreduce.map.sort.spill.percent",
        Fraction(0.01, 1.0),
        "0.80",
        "How full that buffer is, as a part of 1, when a thread begins to spill it to disk.",
    ),
    _job(
        "mapreduce.map.output.compress",
        SWITCH,
        "false",
        "Whether map tasks compress what they spill and what reduce tasks fetch: CPU time for "
        "less I/O.",
    ),
    _job(
        "mapreduce.map.output.compress.codec",
        Line("org.apache.hadoop.io.compress.SnappyCodec"),
        "org.apache.hadoop.io.compress.DefaultCodec (zlib)",
        "What compresses it: the name of a class. Some take Hadoop's native library or a jar of "
        "their own.",
    ),
    _job(
        "mapreduce.ifile.readahead",
        SWITCH,
        "true",
        "Whether the kernel reads ahead in files of map output, when they are fetched or merged.",
        native=True,
    ),
    _job(
        "mapreduce.ifile.readahead.bytes",
        HadoopSize(1, LARGEST_INT),
        "4 MiB",
        "How far ahead.",
        native=True,
    ),
    _job(
        "mapreduce.input.fileinputformat.split.minsize",
        HadoopSize(0),
        "0: a block",
        "The least that a map task reads of a file. More than a block makes fewer, longer tasks.",
    ),
    _job(
        "mapreduce.reduce.shuffle.input.buffer.percent",
        Fraction(),
        "0.70",
        "The part of a reduce task's heap that holds map output; what does not fit goes to disk.",
    ),
    _job(
        "mapreduce.reduce.shuffle.parallelcopies",
        Whole(1, 4096, "transfers"),
        "5",
        "How many map outputs a reduce task fetches at once.",
        f"{_DEFAULTS}; Shuffle.java",
        runner=Runner.YARN,
    ),
    _job(
        "mapreduce.job.reduce.slowstart.completedmaps",
        Fraction(),
        "0.05",
        "The part of the map tasks that have ended when reduce tasks begin to fetch.",
        runner=Runner.YARN,
    ),
    _job(
        "mapreduce.map.speculative",
        SWITCH,
        "true",
        "Whether a map task that is late gets a second attempt beside it. A trial in which one "
        "did is invalid, so a cluster that iostudy starts has it off.",
        runner=Runner.YARN,
    ),
    _job(
        "mapreduce.reduce.speculative",
        SWITCH,
        "true",
        "The same for reduce tasks.",
        runner=Runner.YARN,
    ),
    _job(
        "mapreduce.job.ubertask.enable",
        SWITCH,
        "false",
        "Whether a small job runs in the one container of its master, without others.",
        runner=Runner.YARN,
    ),
    _job(
        "mapreduce.map.memory.mb",
        _MEBIBYTES,
        "1024, or what mapreduce.map.java.opts takes",
        "The memory of a map task's container, which limits how many run at once.",
        runner=Runner.YARN,
    ),
    _job(
        "mapreduce.reduce.memory.mb",
        _MEBIBYTES,
        "1024, or what mapreduce.reduce.java.opts takes",
        "The memory of a reduce task's container.",
        runner=Runner.YARN,
    ),
    _job(
        "mapreduce.map.java.opts",
        _JVM_OPTIONS,
        "a heap of 0.8 of the container",
        "Options of a map task's JVM. Its heap must fit in its container.",
        f"{_DEFAULTS}, mapreduce.job.heap.memory-mb.ratio",
        runner=Runner.YARN,
    ),
    _job(
        "mapreduce.reduce.java.opts",
        _JVM_OPTIONS,
        "a heap of 0.8 of the container",
        "Options of a reduce task's JVM.",
        f"{_DEFAULTS}, mapreduce.job.heap.memory-mb.ratio",
        runner=Runner.YARN,
    ),
    _job(
        "yarn.app.mapreduce.am.resource.mb",
        _MEBIBYTES,
        "1536",
        "The memory of the container that holds the master of a job.",
        runner=Runner.YARN,
    ),
    _job(
        "mapreduce.local.map.tasks.maximum",
        _TASKS,
        "1",
        "How many map tasks run at once. All share the heap of the client (hadoop.client.heap).",
        "LocalJobRunner.java; no file of defaults names it",
        runner=Runner.LOCAL,
    ),
    _job(
        "mapreduce.local.reduce.tasks.maximum",
        _TASKS,
        "1",
        "How many reduce tasks run at once.",
        "LocalJobRunner.java; no file of defaults names it",
        runner=Runner.LOCAL,
    ),
)

_CONTAINERS = (
    _yarn(
        "yarn.nodemanager.resource.memory-mb",
        _MEBIBYTES,
        "8192",
        "The memory that a NodeManager has for containers.",
    ),
    _yarn(
        "yarn.nodemanager.resource.cpu-vcores",
        Whole(1, 4096, "cores"),
        "8",
        "How many cores a NodeManager counts for containers. The CPUs they use are not limited.",
    ),
    _yarn(
        "yarn.scheduler.minimum-allocation-mb",
        _MEBIBYTES,
        "1024",
        "The memory that a container has at least, whatever its task asks for.",
    ),
    _yarn(
        "yarn.scheduler.maximum-allocation-mb",
        _MEBIBYTES,
        "8192",
        "The memory that a container may have at most; a task that asks for more is refused.",
    ),
)

DEFINITIONS = (*_JOBS, *_CONTAINERS)
