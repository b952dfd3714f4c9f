"""Properties of HDFS: its clients, its DataNodes and its NameNode."""

from __future__ import annotations

from iostudy.settings.definitions.hadoop import LARGEST_INT, SWITCH, HadoopSize, Scope, definition
from iostudy.settings.values import Choice, Whole

_DEFAULTS = "hdfs-default.xml"
_THREADS = Whole(1, 65536, "threads")
_VOLUMES = "org.apache.hadoop.hdfs.server.datanode.fsdataset"

_CLIENTS = (
    definition(
        "dfs.blocksize",
        HadoopSize(1 << 20, 1 << 40),
        "128 MiB",
        "How large the blocks of new files are. It sets how many map tasks read a file, and "
        "how long a DataNode writes to one file in one go. A multiple of dfs.bytes-per-checksum.",
        _DEFAULTS,
        scope=Scope.JOB,
        shapes_data=True,
    ),
    definition(
        "dfs.replication",
        Whole(1, 64, "replicas"),
        "3, or the number of DataNodes where there are fewer",
        "How many DataNodes hold each block of new files; a write goes to all of them in a "
        "pipeline, and so multiplies what the disks write. TeraSort has another number for its "
        "output, an option of that workload.",
        _DEFAULTS,
        scope=Scope.JOB,
        shapes_data=True,
    ),
    definition(
        "dfs.bytes-per-checksum",
        HadoopSize(1, 1 << 20),
        "512 B",
        "How much data of a new file has a checksum of 4 bytes of its own. hdfs-default.xml wants "
        "it to be dfs.stream-buffer-size (4 KiB) at most.",
        _DEFAULTS,
        scope=Scope.JOB,
        shapes_data=True,
    ),
    definition(
        "dfs.checksum.type",
        Choice(("CRC32C", "CRC32", "NULL")),
        "CRC32C",
        "The checksum of new files. NULL: none, so that nobody notices damage.",
        _DEFAULTS,
        scope=Scope.JOB,
        shapes_data=True,
    ),
    definition(
        "dfs.client-write-packet-size",
        HadoopSize(1024, 16 << 20),
        "64 KiB",
        "How much a client gathers before it sends it to the first DataNode of a pipeline.",
        f"{_DEFAULTS}; dfs.data.transfer.max.packet.size",
        scope=Scope.JOB,
    ),
    definition(
        "dfs.client.read.prefetch.size",
        HadoopSize(1),
        "10 blocks",
        "For how much of a file a client asks the NameNode at once where its blocks are.",
        _DEFAULTS,
        scope=Scope.JOB,
    ),
    definition(
        "dfs.client.read.shortcircuit",
        SWITCH,
        "false",
        "Whether clients read blocks of a DataNode on the same host from its files, past the "
        "DataNode. It takes dfs.domain.socket.path, in a folder that nobody else can write to.",
        f"{_DEFAULTS}; DataNode.java",
        scope=Scope.DAEMONS,
        native=True,
    ),
    definition(
        "dfs.client.cache.readahead",
        HadoopSize(0, 1 << 40),
        "as dfs.datanode.readahead.bytes says",
        "How far ahead of this client a DataNode has the kernel read (posix_fadvise). 0: not.",
        _DEFAULTS,
        scope=Scope.JOB,
        native=True,
    ),
    definition(
        "dfs.client.cache.drop.behind.reads",
        SWITCH,
        "as dfs.datanode.drop.cache.behind.reads says",
        "Whether a DataNode drops from the page cache what this client has read.",
        _DEFAULTS,
        scope=Scope.JOB,
        native=True,
    ),
    definition(
        "dfs.client.cache.drop.behind.writes",
        SWITCH,
        "as dfs.datanode.drop.cache.behind.writes says",
        "Whether DataNodes drop from the page cache what this client has written.",
        _DEFAULTS,
        scope=Scope.JOB,
        native=True,
    ),
)

_DATANODES = (
    definition(
        "dfs.datanode.handler.count",
        _THREADS,
        "10",
        "How many threads of a DataNode serve remote procedure calls; data go another way.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
    ),
    definition(
        "dfs.datanode.max.transfer.threads",
        _THREADS,
        "4096",
        "How many readers and writers of blocks a DataNode serves at once; more are refused.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
    ),
    definition(
        "dfs.datanode.readahead.bytes",
        HadoopSize(0, 1 << 40),
        "4 MiB",
        "How far ahead of a reader a DataNode has the kernel read (posix_fadvise). 0: not.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
        native=True,
    ),
    definition(
        "dfs.datanode.drop.cache.behind.reads",
        SWITCH,
        "false",
        "Whether a DataNode drops from the page cache what has been read.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
        native=True,
    ),
    definition(
        "dfs.datanode.drop.cache.behind.writes",
        SWITCH,
        "false",
        "Whether a DataNode drops from the page cache what has been written to disk.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
        native=True,
    ),
    definition(
        "dfs.datanode.sync.behind.writes",
        SWITCH,
        "false",
        "Whether a DataNode has the kernel begin at once to write out what a client sends "
        "(sync_file_range), rather than when the kernel thinks fit.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
        native=True,
    ),
    definition(
        "dfs.datanode.synconclose",
        SWITCH,
        "false",
        "Whether a DataNode has a block and its checksums on the disk (fsync) before it calls "
        "them complete. Without it, a power cut can take whole blocks.",
        "DFSConfigKeys.java; no file of defaults names it",
        scope=Scope.DAEMONS,
    ),
    definition(
        "dfs.datanode.transferTo.allowed",
        SWITCH,
        "true",
        "Whether a DataNode sends blocks from the page cache to the socket by sendfile(2), "
        "rather than through its own memory.",
        f"{_DEFAULTS}; BlockSender.java",
        scope=Scope.DAEMONS,
    ),
    definition(
        "dfs.datanode.fsdataset.volume.choosing.policy",
        Choice(
            (
                f"{_VOLUMES}.RoundRobinVolumeChoosingPolicy",
                f"{_VOLUMES}.AvailableSpaceVolumeChoosingPolicy",
            )
        ),
        "RoundRobinVolumeChoosingPolicy",
        "Which of its directories a DataNode puts a new block into: each in turn, or rather those "
        "with more room.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
    ),
)

_NAMENODE = (
    definition(
        "dfs.namenode.handler.count",
        _THREADS,
        "10",
        "How many threads of the NameNode serve remote procedure calls.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
    ),
    definition(
        "dfs.namenode.edits.noeditlogchannelflush",
        SWITCH,
        "false",
        "Whether the journal is opened for synchronous writes (rwd) instead of being synced "
        "(fdatasync) after each batch.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
    ),
    definition(
        "dfs.namenode.edits.asynclogging",
        SWITCH,
        "true",
        "Whether one thread writes the journal for all that serve calls, which go on meanwhile.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
    ),
    definition(
        "dfs.namenode.accesstime.precision",
        Whole(0, LARGEST_INT, "ms"),
        "3600000: one hour",
        "How old the access time of a file must be before a read writes a new one to the journal. "
        "0: access times are not kept.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
    ),
)

DEFINITIONS = (*_CLIENTS, *_DATANODES, *_NAMENODE)
