"""Nodes that are the workers of a Dask scheduler which exists."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy.errors import UsageError
from iostudy.fleet.deployment.certificates import Authority
from iostudy.fleet.deployment.scheduler import connect_to_scheduler
from tests.cli.program import Program
from tests.fleet.hosts import SUPERVISOR, find_processes
from tests.fleet.small_study import HANG_GUARD_SECONDS, build_study, wait_until

NAMES = ("n1", "n2")
TLS = "DASK_DISTRIBUTED__COMM__TLS__"


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "tls://127.0.0.1:1"])
def test_a_scheduler_without_tls_or_certificate_is_refused(address: str):
    with pytest.raises(UsageError, match="every peer"), connect_to_scheduler(address, None):
        pass


class DaskCluster:
    """A scheduler and workers with nannies, as `dask scheduler` and `dask worker` start them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.variables = _write_certificates(folder)
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        self._file = folder / "scheduler.json"
        scheduler = ["scheduler", "--protocol", "tls://", "--host", "127.0.0.1", "--port", "0"]
        self._scheduler = self._start({}, *scheduler, "--no-dashboard")
        wait_until(self._file.exists)
        for name in NAMES:
            own = {"IOSTUDY_STATE_DIR": str(self.state(name))}
            own["IOSTUDY_LOCK_DIR"] = str(folder / name / "locks")
            options = ["--name", name, "--nworkers", "1", "--nthreads", "2", "--no-dashboard"]
            local = ["--local-directory", str(folder / name)]
            self.workers[name] = self._start(own, "worker", *options, *local)

    @property
    def address(self) -> str:
        return str(json.loads(self._file.read_text())["address"])

    def state(self, name: str) -> Path:
        return self.folder / name / "state"

    def kill_worker(self, name: str) -> None:
        """Kill the worker of a nanny, which starts another."""
        number = self.workers[name].pid
        children = Path(f"/proc/{number}/task/{number}/children").read_text().split()
        for child in children:
            os.kill(int(child), signal.SIGKILL)

    def end(self) -> None:
        for process in (*self.workers.values(), self._scheduler):
            process.terminate()
        for process in (*self.workers.values(), self._scheduler):
            process.wait(HANG_GUARD_SECONDS)

    def _start(self, own: dict[str, str], kind: str, *options: str) -> subprocess.Popen[bytes]:
        module = [sys.executable, "-m", f"distributed.cli.dask_{kind}"]
        return subprocess.Popen(
            [*module, "--scheduler-file", str(self._file), *options],
            env={**os.environ, **self.variables, **own},
            stderr=subprocess.DEVNULL,
        )


def _write_certificates(folder: Path) -> dict[str, str]:
    identity = Authority("existing").issue("all")
    names = {"ca-file": identity.authority, "cert": identity.certificate, "key": identity.key}
    paths = {name: folder / f"{name}.pem" for name in names}
    for name, path in paths.items():
        path.touch(0o600)
        path.write_text(names[name])
    variables = {f"{TLS}CA_FILE": str(paths["ca-file"])}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        variables[f"{TLS}{role}__CERT"] = str(paths["cert"])
        variables[f"{TLS}{role}__KEY"] = str(paths["key"])
    return variables


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[DaskCluster]:
    cluster = DaskCluster(tmp_path)
    yield cluster
    cluster.end()


@pytest.mark.slow
@pytest.mark.process
def test_a_worker_that_is_restarted_loses_nothing(cluster: DaskCluster, tmp_path: Path):
    program = Program(tmp_path)
    program.env.update(cluster.variables)
    (tmp_path / "target").mkdir()
    program.write(build_study(tmp_path / "target", blocks=40, least=40))
    options = ["--scheduler", cluster.address, "--out", "out", "--lease", "20s"]
    check = ("fleet", "check", "study.yaml", *options[:2])
    wait_until(lambda: program(*check).stdout.count(" ready") == len(NAMES))
    process = program.start(
        "fleet", "run", "study.yaml", *options, "--work", str(tmp_path / "work")
    )
    wait_until(lambda: find_processes(cluster.state("n1"), SUPERVISOR))
    cluster.kill_worker("n1")
    stdout, stderr = process.communicate(timeout=2 * HANG_GUARD_SECONDS)
    assert process.returncode == 0, stderr
    assert "lost" not in stderr
    assert "2 complete" in stderr
    assert "Changes against 1MiB" in stdout
