"""A real Slurm on this machine, with a daemon for each of its nodes; as root."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from tests.plugins.fleet.hosts import AGENT, SUPERVISOR, find_processes, kill_processes

DAEMONS = ("slurmctld", "slurmd")
HANG_GUARD_SECONDS = 60
CONFIG = """\
ClusterName=iostudy
SlurmctldHost=HOST(127.0.0.1)
SlurmUser=root
SlurmctldPort=PORT
AuthType=auth/none
CredType=cred/none
StateSaveLocation=FOLDER/controller
SlurmctldPidFile=FOLDER/slurmctld.pid
SlurmctldLogFile=FOLDER/slurmctld.log
SlurmdSpoolDir=FOLDER/spool-%n
SlurmdPidFile=FOLDER/slurmd-%n.pid
SlurmdLogFile=FOLDER/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog=FOLDER/prolog
SelectType=select/cons_tres
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
PartitionName=main Nodes=ALL Default=YES State=UP
"""
PROLOG = """\
#!/bin/sh
echo "export IOSTUDY_STATE_DIR=FOLDER/$SLURMD_NODENAME/state"
echo "export IOSTUDY_LOCK_DIR=FOLDER/$SLURMD_NODENAME/locks"
"""


def is_installed() -> bool:
    """Whether the daemons are there; root has their folder in its path."""
    return all(shutil.which(daemon) for daemon in DAEMONS)


class SlurmCluster:
    """Nodes by name, each a slurmd of this host; without passwords between them."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder = folder
        self.names = names
        self.config = folder / "slurm.conf"
        self._daemons: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start all daemons, and wait until every node is idle."""
        host, ports = socket.gethostname(), _find_ports(len(self.names) + 1)
        text = CONFIG.replace("HOST", host).replace("PORT", str(ports[0]))
        lines = [
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1\n"
            for name, port in zip(self.names, ports[1:], strict=True)
        ]
        self.config.write_text(text.replace("FOLDER", str(self.folder)) + "".join(lines))
        prolog = self.folder / "prolog"
        prolog.write_text(PROLOG.replace("FOLDER", str(self.folder)))
        prolog.chmod(0o755)
        (self.folder / "controller").mkdir()
        self._start("slurmctld", "-D")
        for name in self.names:
            (self.folder / name).mkdir()
            self._start("slurmd", "-D", "-N", name)
        end = time.monotonic() + HANG_GUARD_SECONDS
        while self.ask("sinfo", "--noheader", "--format=%D %t").split() != [
            str(len(self.names)),
            "idle",
        ]:
            assert time.monotonic() < end, self.ask("sinfo")
            time.sleep(0.1)

    def ask(self, *command: str) -> str:
        done = subprocess.run(
            command, env=self.variables(), capture_output=True, text=True, check=False
        )
        return done.stdout

    def variables(self) -> dict[str, str]:
        return {**os.environ, "SLURM_CONF": str(self.config)}

    def list_jobs(self) -> list[str]:
        return self.ask("squeue", "--noheader", "--format=%i").split()

    def find(self, name: str, module: str) -> list[int]:
        return find_processes(self.folder / name / "state", module)

    def end(self) -> None:
        for job in self.list_jobs():
            self.ask("scancel", "--signal=KILL", job)
        for daemon in reversed(self._daemons):
            daemon.terminate()
            daemon.wait()
        for name in self.names:
            for module in (AGENT, SUPERVISOR):
                kill_processes(self.folder / name / "state", module)

    def _start(self, *command: str) -> None:
        log = self.folder / f"{command[-1]}.out"
        with log.open("wb") as file:
            self._daemons.append(
                subprocess.Popen(command, env=self.variables(), stdout=file, stderr=file)
            )


def _find_ports(count: int) -> list[int]:
    with ExitStack() as open_sockets:
        sockets = [open_sockets.enter_context(closing(socket.socket())) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
