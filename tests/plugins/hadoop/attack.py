"""A local user against a cluster that root has started: its ports, processes, names and folders."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from iostudy.host.processes import read_users
from iostudy_hadoop import namespace, processes
from iostudy_hadoop.local.cluster import LocalCluster
from iostudy_hadoop.namespace import HOLDER
from iostudy_hadoop.processes import DaemonProcess
from iostudy_hadoop.software import artifacts, java
from iostudy_hadoop.spec import ClusterSpec
from tests.attack.campaign import AttackCount
from tests.stranger import STRANGER, as_stranger, imitations

_CLONE_NEWUSER, _PTRACE_SEIZE, _PIDFD_OPEN = 0x10000000, 0x4206, 434
_NAMESPACES = {"net": 0x40000000, "mnt": 0x20000, "pid": 0x20000000, "user": _CLONE_NEWUSER}
_LISTEN = "0A"
_HOSTS = (b"127.0.0.1", b"::1")
_OF_PROCESS = ("root", "cwd", "exe", "fd", "environ", "mem", "maps", "ns/net", "ns/mnt")
_SHARED = ("/tmp", "/var/tmp", "/dev/shm")
_PREPARED = ("hadoop", "hadoop-root", "hadoop-yarn-root", "hsperfdata_root", "mapred", "logs")
_PROGRAM_SECONDS = 120
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Attack:
    """An attack by its name, and its tries: texts of what was achieved, empty if nothing was."""

    name: str
    tries: Callable[[LocalCluster], Iterator[str]]


def run(seconds: float, seed: int) -> list[AttackCount]:
    """Try everything once against a cluster with YARN; it takes the time that this takes."""
    del seconds, seed
    with _prepared_folders() as untouched, _cluster() as cluster:
        counts = [count(attack, cluster) for attack in (*QUICK, *WITH_PROGRAMS)]
        counts.append(AttackCount("a folder or link in /tmp from before the start"))
        for failure in untouched():
            counts[-1].record(failure)
    return counts


def count(attack: Attack, cluster: LocalCluster) -> AttackCount:
    """Make all tries of an attack."""
    counted = AttackCount(attack.name)
    for failure in attack.tries(cluster):
        counted.record(failure)
    return counted


def _connections(cluster: LocalCluster) -> Iterator[str]:
    """Connect to each port that a daemon listens on."""
    ports = {port for process in _all(cluster) for port in listening_ports(process.pid)}
    assert len(ports) >= len(cluster.layout.daemons()), "the daemons listen on no port"
    for port in sorted(ports):
        for host in _HOSTS:
            yield _achieved(lambda host=host, port=port: _connect(host, port))


def _abstract_sockets(cluster: LocalCluster) -> Iterator[str]:
    """Connect to the abstract sockets of the namespace, and to one that root makes there."""
    made = "iostudy-attack"
    listener = (
        "import socket,sys;s=socket.socket(socket.AF_UNIX);"
        f"s.bind(chr(0)+{made!r});s.listen();print(flush=True);sys.stdin.read()"
    )
    entry = namespace.enter(cluster.layout.namespace)
    pipe = subprocess.PIPE
    with subprocess.Popen(
        (*entry, "/usr/bin/env", "python3", "-c", listener), stdin=pipe, stdout=pipe
    ) as server:
        assert server.stdout is not None
        server.stdout.readline()
        table = Path(f"/proc/{server.pid}/net/unix").read_text().splitlines()[1:]
        names = [line.split()[-1].removeprefix("@") for line in table if "@" in line]
        assert made in names
        for name in names:
            yield _achieved(lambda name=name: _connect_abstract(name))
        server.communicate()


def _processes(cluster: LocalCluster) -> Iterator[str]:
    """Read, trace and signal each process."""
    for process in _all(cluster):
        for part in _OF_PROCESS:
            yield _achieved(lambda pid=process.pid, part=part: _read_part(pid, part))
        yield _achieved(lambda pid=process.pid: _trace(pid))
        yield _achieved(lambda pid=process.pid: os.kill(pid, signal.SIGCONT))


def _entries(cluster: LocalCluster) -> Iterator[str]:
    """Enter each namespace of each process, also as root of a user namespace."""
    for process in _all(cluster):
        for kind, flag in _NAMESPACES.items():
            for as_root in (False, True):
                yield _achieved(
                    lambda pid=process.pid, kind=kind, flag=flag, as_root=as_root: _enter(
                        pid, kind, flag, as_root=as_root
                    )
                )


def _folders(cluster: LocalCluster) -> Iterator[str]:
    """List and write the cluster's folders, and read its record and site files."""
    layout = cluster.layout
    data = (*layout.folders(), *layout.name_dirs(), *cluster.data_dirs(), layout.hadoop_tmp())
    for folder in (layout.home, layout.logs, layout.confs, layout.temporary, *data):
        yield _achieved(lambda folder=folder: list(folder.iterdir()))
        yield _achieved(lambda folder=folder: (folder / "mine").touch())
    for file in (layout.home / "cluster.json", layout.job_conf / "core-site.xml"):
        yield _achieved(lambda file=file: file.read_bytes())


def _rights(cluster: LocalCluster) -> Iterator[str]:
    """See whether a process of the cluster has a right of root's, or may gain one."""
    uid = str(cluster.layout.uid)
    wanted = {
        "Uid": [uid] * 4,
        "Gid": [uid] * 4,
        "Groups": [],
        "NoNewPrivs": ["1"],
        **{f"Cap{each}": ["0" * 16] for each in ("Inh", "Prm", "Eff", "Bnd", "Amb")},
    }
    for process in _all(cluster):
        if process.daemon == HOLDER:
            continue  # of root, because only root may enter what it keeps
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        found = {name: rest.split() for name, _, rest in (line.partition(":") for line in lines)}
        for name, value in wanted.items():
            yield "" if found[name] == value else f"{process}: {name} {found[name]}"


def _imitations(cluster: LocalCluster) -> Iterator[str]:
    """Start processes that look like the cluster's holder; they must be nobody's."""
    layout = cluster.layout
    assert layout.namespace is not None
    with imitations({processes.CLUSTER: layout.identity, processes.DAEMON: HOLDER}) as pids:
        holder = layout.namespace.holder().pid
        namespace._holders.clear()
        yield "taken for the holder" if layout.namespace.holder().pid != holder else ""
        found = {process.pid for process in processes.find_processes(layout.identity)}
        for pid in pids:
            users = sorted(read_users(Path(f"/proc/{pid}")))
            yield f"one of users {users} is taken for the cluster's" if pid in found else ""


def _hdfs_as_root(cluster: LocalCluster) -> Iterator[str]:
    """Write into HDFS under root's name."""
    for command in (("-mkdir", "/stolen"), ("-rm", "-r", "/"), ("-chmod", "777", "/")):
        yield _program(cluster, "org.apache.hadoop.fs.FsShell", *command)


def _job_as_root(cluster: LocalCluster) -> Iterator[str]:
    """Run a job with a shell command among the options of its master."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        mark = Path(folder) / "mark"
        options = f"-Dyarn.app.mapreduce.am.command-opts=-Xmx64m -version; id > {mark}; true"
        done = _program(cluster, "org.apache.hadoop.mapred.MRBench", options, "-numRuns", "1")
        yield mark.read_text() if mark.exists() else done


QUICK = (
    Attack("a connection to a port of the cluster", _connections),
    Attack("a connection to an abstract socket of the cluster", _abstract_sockets),
    Attack("reading, tracing or signalling a process of the cluster", _processes),
    Attack("entering a namespace of the cluster", _entries),
    Attack("reading or writing a folder of the cluster", _folders),
    Attack("a process of the cluster with a right of root", _rights),
    Attack("a process that imitates the cluster's", _imitations),
)
"""The attacks that take no JVM."""

WITH_PROGRAMS = (
    Attack("HDFS under root's name (HADOOP_USER_NAME)", _hdfs_as_root),
    Attack("a job in YARN with a command in its options", _job_as_root),
)


def listening_ports(pid: int) -> set[int]:
    """Return the TCP ports that are listened on in a process's network namespace."""
    tables = [Path(f"/proc/{pid}/net/{name}") for name in ("tcp", "tcp6")]
    lines = [line.split() for table in tables for line in table.read_text().splitlines()[1:]]
    return {int(line[1].rpartition(":")[2], 16) for line in lines if line[3] == _LISTEN}


def _all(cluster: LocalCluster) -> list[DaemonProcess]:
    """Return its processes without iostudy's own, which makes connections."""
    found = processes.find_processes(cluster.layout.identity)
    return [process for process in found if process.daemon != "connector"]


def _achieved(act: Callable[[], object]) -> str:
    """Return what the act achieved as another user; empty if the kernel refused it."""

    def attempt() -> str:
        try:
            return f"achieved: {act()!r}"
        except OSError:
            return ""

    return as_stranger(attempt)


def _connect(host: bytes, port: int) -> str:
    with socket.create_connection((host, port), 2):
        return f"connected to port {port}"


def _connect_abstract(name: str) -> str:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"\0{name}")
        return f"connected to @{name}"


def _read_part(pid: int, part: str) -> str:
    path = Path(f"/proc/{pid}/{part}")
    if part == "fd":
        return f"{part} {list(path.iterdir())}"
    if part in ("exe", "cwd", "root"):
        return f"{part} {path.readlink()}"
    return f"{part} {path.open('rb')}"


def _trace(pid: int) -> str:
    _check(_libc.ptrace(_PTRACE_SEIZE, pid, None, None))
    return f"traces {pid}"


def _enter(pid: int, kind: str, flag: int, *, as_root: bool) -> str:
    """Enter by a descriptor of the process, which needs no file in /proc (setns(2))."""
    if as_root:
        _check(_libc.unshare(_CLONE_NEWUSER))
    descriptor = _check(_libc.syscall(_PIDFD_OPEN, pid, 0))
    _check(_libc.setns(descriptor, flag))
    return f"is in {kind} of {pid}"


def _check(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _program(cluster: LocalCluster, main_class: str, *arguments: str) -> str:
    """Run a program of Hadoop's as another user, with the cluster's addresses and root's name."""
    layout = cluster.layout
    addresses = [f"-Dfs.defaultFS={layout.default_fs}", "-Dipc.client.connect.max.retries=0"]
    if layout.spec.yarn:
        ports = next(v for name, v in layout.ports.items() if name == "resourcemanager")
        addresses += [f"-D{name}=127.0.0.1:{port}" for name, port in ports.items()]
        addresses += ["-Dmapreduce.framework.name=yarn"]
    as_nobody = ("setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups")
    command = (str(layout.java.path), *layout.java.options, "-cp", layout.distribution.classpath)
    try:
        done = subprocess.run(
            (*as_nobody, *command, main_class, *addresses, *arguments),
            env={**os.environ, "HADOOP_USER_NAME": "root"},
            cwd="/",
            capture_output=True,
            timeout=_PROGRAM_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ""  # it waits for a cluster that it cannot reach
    assert b"ClassNotFound" not in done.stderr, done.stderr
    return "" if done.returncode else f"{main_class} {' '.join(arguments)} succeeded"


@contextmanager
def _cluster() -> Iterator[LocalCluster]:
    distribution = artifacts.distribution()
    program = java.find_java(distribution.version)
    with tempfile.TemporaryDirectory() as folder:
        storage = Path(folder) / "storage"
        storage.mkdir()
        cluster = LocalCluster.prepare(
            ClusterSpec(yarn=True),
            home=Path(folder) / "home",
            storage=storage,
            java=program,
            distribution=distribution,
        )
        try:
            cluster.start()
            client = cluster.configured({}, restart=False)
            subprocess.run(
                client.command("org.apache.hadoop.mapred.MRBench", "-numRuns", "1"),
                env={**os.environ, **client.environment()},
                capture_output=True,
                check=True,
            )
            yield cluster
        finally:
            cluster.stop()


@contextmanager
def _prepared_folders() -> Iterator[Callable[[], Iterator[str]]]:
    """Links of another user in shared folders to one of root's, of which nothing may change."""
    with tempfile.TemporaryDirectory() as vault:
        made = [Path(parent) / name for parent in _SHARED for name in _PREPARED]
        made = [path for path in made if not os.path.lexists(path)]
        for path in made:
            as_stranger(lambda path=path: path.symlink_to(vault) or "")

        def untouched() -> Iterator[str]:
            for path in made:
                is_link = path.is_symlink() and path.readlink() == Path(vault)
                yield "" if is_link else f"{path} was replaced"
                yield f"{path} led into {vault}" if list(Path(vault).iterdir()) else ""

        try:
            yield untouched
        finally:
            for path in made:
                with suppress(FileNotFoundError):
                    path.unlink()
