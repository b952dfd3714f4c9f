"""User and namespaces of a local cluster, into which no other user of the host can reach.

HDFS and YARN believe any name that a client gives, and YARN runs any command. So daemons listen in
a network namespace of their own. Those of root also run as a user that has nothing else, in a mount
namespace that shows this user the cluster's folders below folders of root.
"""

from __future__ import annotations

import grp
import json
import os
import pwd
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from iostudy.durable import replace_whole
from iostudy.errors import ClusterError, TargetError
from iostudy.host.processes import read_users
from iostudy.line_handler import LineHandler
from iostudy.safe_path import ROOT_UID
from iostudy_hadoop import processes
from iostudy_hadoop.local import namespace_holder, persistence
from iostudy_hadoop.local.layout import ClusterLayout
from iostudy_hadoop.namespace import HOLDER, enter

_KEEPER = ("sleep", "infinity")
_USER = "user"
"""The name of the process that keeps the user taken, among the daemons."""
_KEPT_WITHIN_SECONDS = 30.0
_LOOK_EVERY_SECONDS = 0.01
_USERS = Path("/etc/passwd")
_OPEN = (
    "{what} listens on this host's loopback interface, because the kernel gives this user no "
    "network namespace ({found}): every local user can read and write its HDFS, and with YARN run "
    "commands as this user; see docs/hadoop.md"
)


def environment(layout: ClusterLayout, name: str) -> Mapping[str, str]:
    """Return iostudy's environment with the cluster's marker and the needs of YARN containers."""
    return {
        **os.environ,
        "JAVA_HOME": str(layout.java.home),
        "HADOOP_CONF_DIR": str(layout.job_conf),
        processes.CLUSTER: layout.identity,
        processes.DAEMON: name,
    }


def confine(layout: ClusterLayout, on_progress: LineHandler) -> ClusterLayout:
    """Make the namespace, and return the layout with the user of its daemons.

    ClusterError where root gets no namespace. Another user's cluster is then open to local users,
    and a message says so.
    """
    if os.geteuid() == ROOT_UID:
        return _confine_as_root(layout)
    confined = replace(layout, uid=os.geteuid())
    refusal = _keep(confined, ())
    if refusal:
        on_progress(_OPEN.format(what="the cluster", found=refusal))
        return replace(layout, uid=None)
    return confined


def isolate(command: Sequence[str], directory: Path) -> tuple[str, ...]:
    """Return a command that has a network of its own, if this user gets one."""
    return tuple(command) if find_exposure() else _hold(command, directory=directory)


def find_exposure() -> str:
    """Return who reaches a name-node that `isolate` cannot protect; empty if it can.

    ClusterError where root gets no network namespace.
    """
    refusal = _find_refusal()
    if refusal and os.geteuid() == ROOT_UID:
        raise _refused(refusal)
    return _OPEN.format(what="the name-node", found=refusal) if refusal else ""


@cache
def _find_refusal() -> str:
    """Return why the kernel refuses this user a network namespace; empty if it does not."""
    ended = subprocess.run(_hold(["true"]), capture_output=True, text=True, check=False)
    return ended.stderr.strip() if ended.returncode == namespace_holder.UNAVAILABLE else ""


def _hold(
    command: Sequence[str],
    paths: Sequence[Path] = (),
    users: Path | None = None,
    directory: Path = Path("/"),
) -> tuple[str, ...]:
    """Return the command that makes the namespaces, and then becomes ``command``."""
    request = {
        "command": list(command),
        "paths": [str(path) for path in paths],
        "users": str(users),
        "directory": str(directory),
    }
    return (sys.executable, "-I", "-S", namespace_holder.__file__, json.dumps(request))


def wrap(layout: ClusterLayout, directory: Path) -> tuple[str, ...]:
    """Return what precedes a command that shall run as a daemon does, and work in ``directory``."""
    namespace, uid = layout.namespace, layout.uid
    if namespace is None or uid is None or uid == os.geteuid():
        return enter(namespace)
    inside = ("nsenter", f"--target={namespace.holder().pid}", "--net", "--mount", "--")
    command = ("env", f"--chdir={directory}", f"HOME={layout.temporary}")
    return (*inside, *_as_user(uid), *command)


def give(folder: Path, layout: ClusterLayout) -> None:
    """Make a folder the property of the cluster's user, with its content.

    TargetError where the file system has no owners, or does not let root change them.
    """
    if layout.uid is None or folder.stat().st_uid == layout.uid:
        return
    try:
        persistence.hand_over(folder, layout.uid)
    except OSError as error:
        raise TargetError(
            "a folder that belongs to the user of the daemons, which are not run as root",
            found=error.strerror or str(error),
            where=str(folder),
            remedy="name a directory on a local file system of Linux, or start the cluster as "
            "another user than root",
        ) from error


def _as_user(uid: int) -> tuple[str, ...]:
    """Return the command that runs its arguments as this user, who can gain no other right."""
    ids = (f"--reuid={uid}", f"--regid={uid}", "--clear-groups")
    return ("setpriv", *ids, "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "--")


def _confine_as_root(layout: ClusterLayout) -> ClusterLayout:
    """Return the layout with a user that no other process has, which a process keeps taken."""
    for uid in _free_users(layout):
        confined = replace(layout, uid=uid)
        refusal = _keep(confined, _reached(layout))
        if refusal:
            raise _refused(refusal)
        taken_by = _take_user(confined)
        # Of two clusters that take a user at the same time, at least one finds the other here.
        if _users_processes(uid) == {taken_by}:
            for folder in (layout.logs, layout.temporary, *layout.folders()):
                give(folder, confined)
            return confined
        processes.end_processes(layout.identity)
    raise ClusterError(
        "a user for the daemons that nobody else is",
        found="each has processes or is an account",
        where=f"users {processes.UIDS[0]} to {processes.UIDS[-1]}",
        remedy="end other clusters, or give those accounts other numbers",
    )


def _take_user(layout: ClusterLayout) -> int:
    """Start a process of the cluster's user that does nothing; return its number."""
    command = (*wrap(layout, Path("/")), *_KEEPER)
    output = layout.logs / f"{_USER}.out"
    child = processes.start(command, environment(layout, _USER), layout.logs, output)
    _await_keeper(child, output)
    return child.pid


def _free_users(layout: ClusterLayout) -> Iterator[int]:
    """Return users without processes and accounts: first that of the cluster's earlier start."""
    chosen = random.sample(processes.UIDS, len(processes.UIDS))
    candidates = chosen if layout.uid is None else [layout.uid, *chosen]
    return (uid for uid in candidates if not _users_processes(uid) and not _is_account(uid))


def _users_processes(uid: int) -> set[int]:
    entries = [entry for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
    return {int(entry.name) for entry in entries if uid in read_users(entry)}


def _is_account(uid: int) -> bool:
    for find in (pwd.getpwuid, grp.getgrgid):
        with suppress(KeyError):
            find(uid)
            return True
    return False


def _reached(layout: ClusterLayout) -> tuple[Path, ...]:
    """Return the directories that the daemons need: their own, Java's, Hadoop's and libraries'."""
    entries = [Path(entry) for entry in layout.distribution.classpath.split(":")]
    jars = [entry if entry.is_dir() else entry.parent for entry in entries]
    libraries = [Path(entry) for entry in os.environ.get("LD_LIBRARY_PATH", "").split(":") if entry]
    folders = (layout.confs, layout.logs, layout.temporary, *layout.folders())
    wanted = (*folders, layout.java.home, *jars, *libraries)
    return tuple(dict.fromkeys(path.absolute() for path in wanted if path.is_dir()))


def _keep(layout: ClusterLayout, reached: tuple[Path, ...]) -> str:
    """Start the holder, which belongs to this user; return why the kernel refuses the namespace.

    ClusterError if it fails otherwise. The user of root's daemons gets root's name: Hadoop compares
    names of users.
    """
    assert layout.uid is not None
    users = layout.confs / "users"
    if reached:
        name = pwd.getpwuid(os.geteuid()).pw_name
        line = f"{name}:x:{layout.uid}:{layout.uid}::{layout.temporary}:/bin/sh\n"
        replace_whole(users, _USERS.read_bytes() + line.encode())
    command = (*_as_user(ROOT_UID), *_KEEPER) if reached else _KEEPER
    output = layout.logs / f"{HOLDER}.out"
    script = _hold(command, reached, users)
    child = processes.start(script, environment(layout, HOLDER), layout.logs, output)
    return _await_keeper(child, output)


def _await_keeper(child: subprocess.Popen[bytes], output: Path) -> str:
    """Wait until a process keeps what it was started for; return why the kernel refuses it.

    ClusterError if it fails otherwise.
    """
    until = time.monotonic() + _KEPT_WITHIN_SECONDS
    while child.poll() is None and time.monotonic() < until:
        if processes.identify_child(child.pid, "").arguments() == _KEEPER:
            return ""
        time.sleep(_LOOK_EVERY_SECONDS)
    said = output.read_bytes().decode(errors="replace").strip()
    if child.poll() == namespace_holder.UNAVAILABLE:
        return said
    raise ClusterError(
        "the namespaces of a cluster",
        found=said.splitlines()[-1] if said else f"exit code {child.poll()}, and no message",
        where=str(output),
        remedy="see that file; nsenter and setpriv are in util-linux",
    )


def _refused(found: str) -> ClusterError:
    return ClusterError(
        "namespaces of its own, so that no other user reaches a daemon that root starts",
        found=f"the kernel refuses them: {found}",
        where="this host or container",
        remedy="give a container CAP_SYS_ADMIN, and no profile that denies mount(2); or start it "
        "as a user other than root",
    )
