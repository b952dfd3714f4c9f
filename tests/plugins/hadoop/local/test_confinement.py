"""Confinement of a cluster: its user, its namespaces, and what happens without them."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from iostudy.errors import ClusterError
from iostudy.host.processes import read_users
from iostudy.own_folder import new_identity
from iostudy_hadoop import namespace, processes
from iostudy_hadoop.local import confinement, namespace_holder, persistence
from iostudy_hadoop.local.cluster import LocalCluster
from iostudy_hadoop.namespace import HOLDER, Address, Namespace
from tests.plugins.hadoop.clusters import layout

pytestmark = [pytest.mark.root, pytest.mark.child]


@pytest.fixture
def planned(tmp_path):
    """A cluster of which only the folders exist."""
    folders = {"home": tmp_path / "home", "storage": tmp_path}
    planned = dataclasses.replace(layout(), identity=new_identity(), **folders)
    persistence.make(planned)
    yield planned
    processes.end_processes(planned.identity)
    persistence.remove(planned)
    assert not processes.find_processes(planned.identity)


def run(confined, *command):
    inside = (*confinement.wrap(confined, confined.temporary), *command)
    return subprocess.run(inside, capture_output=True, text=True, check=False)


def test_a_mount_below_a_path_of_any_character_is_no_other_disk():
    """Any user may mount by FUSE there; what is kept is not unmounted."""
    line = "23 44 0:39 / /home/a\u2028b rw,relatime - fuse.ext4 of\u2028any rw"
    namespace_holder._unmount_disk(line, [Path("/home/a\u2028b/cluster")])


def test_a_command_has_no_right_but_to_its_folders(planned):
    confined = confinement.confine(planned, pytest.fail)
    assert confined.uid in processes.UIDS
    uid = str(confined.uid)
    assert run(confined, "id", "-u").stdout == f"{uid}\n"
    assert run(confined, "id", "-un").stdout == "root\n"
    assert run(confined, "id", "-G").stdout == f"{uid}\n"
    assert run(confined, "pwd").stdout == f"{confined.temporary}\n"
    for folder in (confined.logs, confined.temporary, *confined.folders()):
        assert run(confined, "touch", str(folder / "own")).returncode == 0
        assert (folder / "own").stat().st_uid == confined.uid
    assert run(confined, "touch", str(confined.home / "not")).returncode
    assert run(confined, "ls", "/root").stdout in ("", "hadoop\n")
    interfaces = run(confined, "cat", "/proc/self/net/dev").stdout.splitlines()[2:]
    assert [line.partition(":")[0].strip() for line in interfaces] == ["lo"]


def test_a_name_node_has_a_network_of_its_own(tmp_path):
    isolated = confinement.isolate(("sh", "-c", "pwd; cat /proc/self/net/dev"), tmp_path)
    printed = subprocess.run(isolated, capture_output=True, text=True, check=True).stdout
    folder, _, _, *interfaces = printed.splitlines()
    assert folder == str(tmp_path)
    assert [line.partition(":")[0].strip() for line in interfaces] == ["lo"]


def test_root_starts_no_name_node_that_others_reach(monkeypatch):
    monkeypatch.setattr(confinement, "_find_refusal", lambda: "Operation not permitted: unshare(2)")
    with pytest.raises(ClusterError, match=r"unshare\(2\)"):
        confinement.isolate(("true",), Path())


def test_a_disk_that_the_cluster_does_not_need_can_be_removed_meanwhile(planned, loop, tmp_path):
    point = tmp_path / "other\u2028 disk"
    point.mkdir()
    subprocess.run(["mkfs.ext4", "-q", f"/dev/{loop}"], check=True)
    subprocess.run(["mount", f"/dev/{loop}", point], check=True)
    try:
        confined = confinement.confine(planned, pytest.fail)
    finally:
        subprocess.run(["umount", point], check=True)
    mounts = Path(f"/proc/{confined.namespace.holder().pid}/mountinfo").read_text()
    assert f"/dev/{loop} " not in mounts
    # Nobody has the device open: the kernel lets it be claimed.
    os.close(os.open(f"/dev/{loop}", os.O_RDONLY | os.O_EXCL))


def test_a_connection_enters_the_namespace(planned):
    confined = confinement.confine(planned, pytest.fail)
    server = (
        "import socket;s=socket.create_server(('127.0.0.1',1234));print(flush=True);"
        "c,_=s.accept();c.sendall(b'inside');c.close()"
    )
    entry = namespace.enter(confined.namespace)
    with subprocess.Popen((*entry, sys.executable, "-c", server), stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        with pytest.raises(ConnectionRefusedError):
            Address("127.0.0.1:1234").connect(1)
        with Address("127.0.0.1:1234", confined.namespace).connect(1) as connection:
            assert connection.recv(10) == b"inside"
    with pytest.raises(ConnectionRefusedError):
        Address("127.0.0.1:1234", confined.namespace).connect(1)


def test_a_process_in_the_hosts_network_is_no_holder(planned):
    """It has a lower number than the holder, and so comes first."""
    marked = {processes.CLUSTER: planned.identity, processes.DAEMON: HOLDER}
    with subprocess.Popen(("sleep", "600"), env={**os.environ, **marked}) as other:
        try:
            confined = confinement.confine(planned, pytest.fail)
            found = {process.pid for process in processes.find_processes(planned.identity)}
            holder = confined.namespace.holder().pid
            assert {other.pid, holder} <= found
            assert holder != other.pid
        finally:
            other.kill()


def test_a_program_in_the_namespace_finds_the_holder(planned, monkeypatch):
    """One of `iostudy hadoop exec` has the holder's network, and a variable that says so."""
    confined = confinement.confine(planned, pytest.fail)
    kept = confined.namespace
    script = (
        "from iostudy_hadoop.namespace import Namespace; "
        f"print(Namespace({kept.cluster!r}, {kept.owner}).holder().pid)"
    )
    command, holder = (*namespace.enter(kept), sys.executable, "-c", script), kept.holder().pid
    inside = {**os.environ, namespace.INSIDE: str(kept)}
    assert int(subprocess.check_output(command, env=inside)) == holder
    monkeypatch.setenv(namespace.INSIDE, str(kept))
    namespace._holders.clear()
    with pytest.raises(ClusterError, match="no process keeps it"):  # this process is outside
        kept.holder()


def test_a_user_with_a_process_or_an_account_is_not_taken(planned, monkeypatch):
    taken, account, free = processes.UIDS[:3]
    monkeypatch.setattr(processes, "UIDS", range(taken, free + 1))
    monkeypatch.setattr(confinement, "_is_account", lambda uid: uid == account)
    as_taken = ("setpriv", f"--reuid={taken}", "--clear-groups", "sleep", "60")
    with subprocess.Popen(as_taken) as other:
        while read_users(Path(f"/proc/{other.pid}")) != {taken}:
            time.sleep(0.01)
        assert confinement.confine(planned, pytest.fail).uid == free
        processes.end_processes(planned.identity)
        monkeypatch.setattr(processes, "UIDS", range(taken, account + 1))
        with pytest.raises(ClusterError, match="each has processes or is an account"):
            confinement.confine(planned, pytest.fail)
        other.kill()


def test_a_user_that_another_cluster_takes_at_the_same_time_is_left_to_it(planned, monkeypatch):
    calls = []

    def others(uid):
        calls.append(uid)
        # Free at first; then another process has it too.
        return {1} if len(calls) == 2 else found(uid)

    found = confinement._users_processes
    monkeypatch.setattr(confinement, "_users_processes", others)
    confined = confinement.confine(planned, pytest.fail)
    assert calls[0] == calls[1] != confined.uid


def test_root_without_namespaces_is_refused_with_the_reason(planned):
    program = (
        "import sys; from pydantic import TypeAdapter\n"
        "from iostudy_hadoop.local.layout import ClusterLayout\n"
        "from iostudy_hadoop.local import confinement\n"
        "confinement.confine(TypeAdapter(ClusterLayout).validate_json(sys.stdin.read()), print)"
    )
    # As in a container: root, without the capability for namespaces.
    command = ("setpriv", "--bounding-set=-sys_admin", "--", sys.executable, "-c", program)
    record = persistence._LAYOUT.dump_json(planned)
    done = subprocess.run(command, input=record, capture_output=True, check=False)
    assert b"Operation not permitted: unshare(2)" in done.stderr
    assert b"CAP_SYS_ADMIN" in done.stderr
    assert not processes.find_processes(planned.identity)


def test_another_user_without_namespaces_is_warned(planned, monkeypatch):
    messages = []
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(confinement, "_keep", lambda *_: "Operation not permitted")
    assert confinement.confine(planned, messages.append).namespace is None
    assert "every local user" in messages[0]


def test_an_ended_holder_is_reported_and_replaced_with_all_daemons(hadoop_cluster: LocalCluster):
    assert hadoop_cluster.layout.namespace is not None
    before = hadoop_cluster.layout.namespace.holder()
    os.kill(before.pid, signal.SIGKILL)
    while before.runs():
        time.sleep(0.01)
    with pytest.raises(ClusterError, match="no process keeps it"):
        hadoop_cluster.require_alive()
    hadoop_cluster.configured({}, restart=False)
    hadoop_cluster.verify()


def test_a_namespace_has_a_text():
    kept = Namespace(new_identity(), 0)
    assert Namespace.parse(str(kept)) == kept
    assert Namespace.parse("") is None
    assert Namespace.parse("0123456789abcdef@root") is None
    with pytest.raises(ClusterError, match="belongs to another user"):
        kept.holder()


def test_settings_of_the_hosts_network_hold_inside(planned):
    name = Path("/proc/sys/net/ipv4/tcp_fin_timeout")
    before = name.read_text()
    name.write_text("47")
    try:
        confined = confinement.confine(planned, pytest.fail)
    finally:
        name.write_text(before)
    assert run(confined, "cat", str(name)).stdout == "47\n"
    assert HOLDER in {each.daemon for each in processes.find_processes(confined.identity)}
