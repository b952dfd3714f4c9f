"""Who reaches each socket, temporary name, deserializer and child process of the program."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What another user may reach, or make the program trust."""

    SOCKET = "socket"
    TEMPORARY = "temporary name"
    DESERIALIZER = "deserializer"
    CHILD = "child process"


@dataclass(frozen=True)
class Row:
    """Files that do the same with the same protection.

    Their paths begin below python/iostudy, the folder of a plugin, or that of the crates.
    """

    kind: Kind
    what: str
    files: tuple[str, ...]
    reach: str


ROWS = (
    Row(
        Kind.SOCKET,
        "a Unix socket of the study on a node",
        ("iostudy_fleet/together/trial_server.py", "iostudy_fleet/together/trial_socket.py"),
        "the same user: it is in a work folder of mode 0700",
    ),
    Row(
        Kind.SOCKET,
        "a Unix socket of `drive up --nbd`",
        ("crates/drive-device/src/nbd/mod.rs",),
        "who may enter the folder of the drive: root",
    ),
    Row(
        Kind.SOCKET,
        "search for free ports of a local cluster",
        ("iostudy_hadoop/local/ports.py",),
        "nobody: closed at once; the daemons that get them are in docs/hadoop.md",
    ),
    Row(
        Kind.SOCKET,
        "the loopback interface of a cluster's network namespace, and connections from within",
        (
            "iostudy_hadoop/local/namespace_holder.py",
            "iostudy_hadoop/namespace.py",
            "iostudy_hadoop/namespace_connector.py",
        ),
        "root and the user who started the cluster; the sockets between them have no name",
    ),
    Row(
        Kind.SOCKET,
        "a pair of sockets to the guard of a program",
        ("workloads/external/program.py",),
        "nobody: it has no name",
    ),
    Row(
        Kind.SOCKET,
        "name of this host, and a connection to a NameNode",
        (
            "iostudy_fleet/options.py",
            "iostudy_fleet/deployment/probe.py",
            "iostudy_hadoop/existing/reachability.py",
        ),
        "nobody: they do not listen",
    ),
    Row(
        Kind.TEMPORARY,
        "content before it takes its name",
        ("durable.py",),
        "nobody: no name where the file system allows, else a random one, made exclusively",
    ),
    Row(
        Kind.TEMPORARY,
        "work folders and cgroups with random names",
        ("own_folder.py", "settings/kinds/cgroup.py"),
        "this user: mode 0700, made exclusively, below a checked folder",
    ),
    Row(
        Kind.TEMPORARY,
        "a folder or file of mode 0700 or 0600 in `TMPDIR`, removed at the end",
        (
            "iostudy_fleet/deployment/node_probe.py",
            "iostudy_fleet/deployment/probe.py",
            "iostudy_fleet/deployment/slurm.py",
            "iostudy_lab/simulation/host.py",
            "persist/install.py",
            "iostudy_hep/file.py",
        ),
        "this user: mkdtemp(3) makes it exclusively",
    ),
    Row(
        Kind.TEMPORARY,
        "`TMPDIR` as the parent of a work folder of `bench` on HDFS",
        ("cli/bench/command.py",),
        "this user: the work folder is made exclusively, and `TMPDIR` is checked",
    ),
    Row(
        Kind.TEMPORARY,
        "a random seed",
        ("study/plan.py",),
        "nobody: no file",
    ),
    Row(
        Kind.DESERIALIZER,
        "YAML without tags and anchors, with bounds",
        ("study/guarded_yaml.py", "study/source.py", "iostudy_lab/drives/drive_file.py"),
        "the author of a study or drive file, or of a file of settings.d",
    ),
    Row(
        Kind.DESERIALIZER,
        "YAML of the settings that come with iostudy",
        ("settings/declarations.py",),
        "nobody: a file of the package",
    ),
    Row(
        Kind.DESERIALIZER,
        "YAML of Ansible inventories, without tags and anchors, with bounds",
        ("iostudy_fleet/deployment/inventory_text.py",),
        "the author of the inventory",
    ),
    Row(
        Kind.DESERIALIZER,
        "XML of Hadoop's site files",
        ("iostudy_hadoop/conf/configuration.py", "iostudy_hadoop/conf/site_xml.py"),
        "the owner of `HADOOP_CONF_DIR`",
    ),
    Row(
        Kind.DESERIALIZER,
        "SQLite and JSON of the ledger, checked by SHA-256",
        (
            "ledger/encoding.py",
            "ledger/errors.py",
            "ledger/given_up_workloads.py",
            "iostudy_search/record.py",
            "ledger/store.py",
            "ledger/tables.py",
            "ledger/windows.py",
        ),
        "who may write the output folder; the author of a ledger that is reported",
    ),
    Row(
        Kind.DESERIALIZER,
        "NumPy arrays of telemetry; Parquet of traces, and of telemetry of earlier versions",
        ("ledger/samples.py", "iostudy_trace/trace_file.py"),
        "the same, and the author of a trace",
    ),
    Row(
        Kind.DESERIALIZER,
        "JSON by the Unix socket of a study on a node",
        ("iostudy_fleet/together/trial_server.py", "iostudy_fleet/together/trial_socket.py"),
        "the same user",
    ),
    Row(
        Kind.DESERIALIZER,
        "none: these write YAML and XML only",
        ("persist/ansible.py", "iostudy_hadoop/site_files.py", "report/render/verdict_cases.py"),
        "nobody",
    ),
    Row(
        Kind.CHILD,
        "the workload's program, under its guard",
        ("workloads/external/guard.py", "workloads/external/program.py"),
        "the author of the study; `iostudy check` shows it",
    ),
    Row(
        Kind.CHILD,
        "the user's command of `watch` and `trace record`",
        ("cli/child.py",),
        "who types it",
    ),
    Row(
        Kind.CHILD,
        "tools of the system from `PATH`, commands of declared settings, and the watchdog",
        (
            "settings/commands.py",
            "settings/command_keeper.py",
            "settings/server_process.py",
            "settings/transaction/watchdog.py",
        ),
        "the owner of `PATH`; the author of a study or of a file of settings.d",
    ),
    Row(
        Kind.CHILD,
        "Hadoop's programs and daemons",
        (
            "iostudy_hadoop/command.py",
            "iostudy_hadoop/local/confinement.py",
            "iostudy_hadoop/local/daemon.py",
            "iostudy_hadoop/namespace.py",
            "iostudy_hadoop/processes.py",
        ),
        "the owner of `JAVA_HOME` and of the cache of the distribution",
    ),
    Row(
        Kind.CHILD,
        "tasks of `mrbench`: a script of iostudy, by its own interpreter",
        ("iostudy_hadoop/native/mrbench_job.py",),
        "this user",
    ),
    Row(
        Kind.CHILD,
        "ssh, srun, ansible-inventory and iostudy itself",
        (
            "iostudy_fleet/deployment/agents.py",
            "iostudy_fleet/deployment/client.py",
            "iostudy_fleet/deployment/inventory.py",
            "iostudy_fleet/deployment/node_probe.py",
            "iostudy_fleet/deployment/probe.py",
            "iostudy_fleet/deployment/slurm.py",
            "iostudy_fleet/supervision/node_study.py",
            "iostudy_fleet/supervision/supervisor.py",
            "iostudy_fleet/together/trial_server.py",
            "iostudy_fleet/together/trial_socket.py",
        ),
        "the owner of `PATH` on the host and on the nodes",
    ),
    Row(
        Kind.CHILD,
        "simulated hosts",
        ("iostudy_lab/simulation/hosts.py",),
        "this user",
    ),
)
"""Every file of the kinds, each once for a kind."""
