"""Properties of HDFS: its clients, its DataNodes and its NameNode."""

from __future__ import annotations

from iostudy.settings.values import Choice, Integer
from iostudy_hadoop.properties.definition import LARGEST_INT, SWITCH, HadoopSize, Scope, definition

_DEFAULTS = "hdfs-default.xml"
_THREADS = Integer(1, 65536, "threads")
_VOLUMES = "org.apache.hadoop.hdfs.server.datanode.fsdataset"

_CLIENTS = (
    definition(
        "dfs.blocksize",
        HadoopSize(1 << 20, 1 << 40),
        "128 MiB",
        "Block size of new files. It sets the number of map tasks that read a file, and how much "
        "a DataNode writes to one file in sequence. A multiple of dfs.bytes-per-checksum.",
        _DEFAULTS,
        scope=Scope.JOB,
        shapes_data=True,
    ),
    definition(
        "dfs.replication",
        Integer(1, 64, "replicas"),
        "3, or the number of DataNodes if that is smaller",
        "Number of DataNodes that store each block of new files. A write goes to all of them in a "
        "pipeline, which multiplies the data written to disks. TeraSort has a separate option for "
        "its output.",
        _DEFAULTS,
        scope=Scope.JOB,
        shapes_data=True,
    ),
    definition(
        "dfs.bytes-per-checksum",
        HadoopSize(1, 1 << 20),
        "512 B",
        "Bytes of a new file per checksum of 4 bytes. hdfs-default.xml requires at most "
        "dfs.stream-buffer-size (4 KiB).",
        _DEFAULTS,
        scope=Scope.JOB,
        shapes_data=True,
    ),
    definition(
        "dfs.checksum.type",
        Choice(("CRC32C", "CRC32", "NULL")),
        "CRC32C",
        "Checksum of new files. NULL: none, so damage remains undetected.",
        _DEFAULTS,
        scope=Scope.JOB,
        shapes_data=True,
    ),
    definition(
        "dfs.client-write-packet-size",
        HadoopSize(1024, 16 << 20),
        "64 KiB",
        "Size of the packets that a client sends to the first DataNode of a pipeline.",
        f"{_DEFAULTS}; dfs.data.transfer.max.packet.size",
        scope=Scope.JOB,
    ),
    definition(
        "dfs.client.read.prefetch.size",
        HadoopSize(1),
        "10 blocks",
        "Range of a file for which a client requests block locations from the NameNode at once.",
        _DEFAULTS,
        scope=Scope.JOB,
    ),
    definition(
        "dfs.client.read.shortcircuit",
        SWITCH,
        "false",
        "Whether clients read blocks of a DataNode on the same host directly from its files. It "
        "needs dfs.domain.socket.path, in a folder without write access for others.",
        f"{_DEFAULTS}; DataNode.java",
        scope=Scope.DAEMONS,
        native=True,
    ),
    definition(
        "dfs.client.cache.readahead",
        HadoopSize(0, 1 << 40),
        "that of dfs.datanode.readahead.bytes",
        "Read-ahead of a DataNode for this client (posix_fadvise). 0 turns it off.",
        _DEFAULTS,
        scope=Scope.JOB,
        native=True,
    ),
    definition(
        "dfs.client.cache.drop.behind.reads",
        SWITCH,
        "that of dfs.datanode.drop.cache.behind.reads",
        "Whether a DataNode drops data from the page cache after this client has read them.",
        _DEFAULTS,
        scope=Scope.JOB,
        native=True,
    ),
    definition(
        "dfs.client.cache.drop.behind.writes",
        SWITCH,
        "that of dfs.datanode.drop.cache.behind.writes",
        "Whether DataNodes drop data from the page cache after this client has written them.",
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
        "Number of DataNode threads for remote procedure calls, which transfer no block data.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
    ),
    definition(
        "dfs.datanode.max.transfer.threads",
        _THREADS,
        "4096",
        "Maximum number of concurrent block readers and writers of a DataNode; it refuses more.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
    ),
    definition(
        "dfs.datanode.readahead.bytes",
        HadoopSize(0, 1 << 40),
        "4 MiB",
        "Read-ahead of a DataNode for its readers (posix_fadvise). 0 turns it off.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
        native=True,
    ),
    definition(
        "dfs.datanode.drop.cache.behind.reads",
        SWITCH,
        "false",
        "Whether a DataNode drops data from the page cache after they are read.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
        native=True,
    ),
    definition(
        "dfs.datanode.drop.cache.behind.writes",
        SWITCH,
        "false",
        "Whether a DataNode drops data from the page cache after they are written to disk.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
        native=True,
    ),
    definition(
        "dfs.datanode.sync.behind.writes",
        SWITCH,
        "false",
        "Whether a DataNode makes the kernel start write-back immediately (sync_file_range), "
        "rather than when the kernel decides.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
        native=True,
    ),
    definition(
        "dfs.datanode.synconclose",
        SWITCH,
        "false",
        "Whether a DataNode syncs a block and its checksums (fsync) before it reports them "
        "complete. Otherwise a power failure can lose whole blocks.",
        "DFSConfigKeys.java; no file of defaults names it",
        scope=Scope.DAEMONS,
    ),
    definition(
        "dfs.datanode.transferTo.allowed",
        SWITCH,
        "true",
        "Whether a DataNode sends blocks from the page cache to the socket by sendfile(2), rather "
        "than through its own memory.",
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
        "Choice of the directory for a new block: round robin, or directories with more free "
        "space first.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
    ),
)

_NAMENODE = (
    definition(
        "dfs.namenode.handler.count",
        _THREADS,
        "10",
        "Number of NameNode threads for remote procedure calls.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
    ),
    definition(
        "dfs.namenode.edits.noeditlogchannelflush",
        SWITCH,
        "false",
        "Whether the NameNode opens the journal for synchronous writes (rwd) instead of syncing "
        "it (fdatasync) after each batch.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
    ),
    definition(
        "dfs.namenode.edits.asynclogging",
        SWITCH,
        "true",
        "Whether one thread writes the journal for all handlers, which continue without waiting.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
    ),
    definition(
        "dfs.namenode.accesstime.precision",
        Integer(0, LARGEST_INT, "ms"),
        "3600000: one hour",
        "Minimum age of a file's access time before a read writes a new one to the journal. 0 "
        "disables access times.",
        _DEFAULTS,
        scope=Scope.DAEMONS,
    ),
)

DEFINITIONS = (*_CLIENTS, *_DATANODES, *_NAMENODE)
