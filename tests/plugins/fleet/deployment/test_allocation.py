"""Allocations of Slurm, with programs in the place of Slurm's."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.errors import UsageError
from iostudy_fleet.deployment import slurm
from iostudy_fleet.study.section import SlurmJob
from tests.cli.program import Program

pytestmark = pytest.mark.child
FAILS = "echo 'slurm_load error: refused' >&2; exit 1"


class Programs:
    """Scripts in a folder; ``salloc`` notes its arguments, grants a job and holds it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: list[str] = []
        for name in ("srun", "squeue"):
            self.write(name, "true")
        self.write("salloc", f'echo "$*" >{folder}/requested; echo "17 n[1-2]"; exec cat')
        self.write("scontrol", "echo n1; echo n2")
        self.write("sinfo", "printf '%s\\n' 'n1 idle' 'n1 idle' 'n2 mix' 'n3 down*' 'n4 drng'")

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def allocate(self, *names: str, wait: float = 60) -> list[str]:
        job = SlurmJob(4, wait=wait)
        with slurm.allocate(job, names, self.said.append, python="py", sudo=False) as nodes:
            return [node.name for node in nodes]

    def requested(self) -> list[str]:
        return (self.folder / "requested").read_text().split()


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return Programs(tmp_path)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def test_a_new_run_asks_for_a_number_of_nodes(programs: Programs):
    programs.write("sinfo", FAILS)
    assert programs.allocate() == ["n1", "n2"]
    assert "--nodes=4" in programs.requested()
    assert not any(option.startswith("--nodelist") for option in programs.requested())


def test_nodes_that_get_no_job_are_left_out_of_a_resumed_run(programs: Programs):
    assert programs.allocate("n1", "n2", "n3", "n4", "n5") == ["n1", "n2"]
    assert programs.said == [
        "n3 is left out: Slurm says that it is down*",
        "n4 is left out: Slurm says that it is drng",
        "n5 is left out: Slurm says that it is unknown to it",
    ]
    assert {"--nodelist=n1,n2", "--nodes=2"} <= set(programs.requested())
    with pytest.raises(UsageError, match=r"n3 is down\*, n4 is drng"):
        programs.allocate("n3", "n4")


def test_a_resumed_run_that_waits_in_vain_names_its_nodes(programs: Programs):
    programs.write("salloc", "exec sleep 60")
    programs.write("squeue", "echo Resources")
    with pytest.raises(UsageError, match="n1, n2 of Slurm") as caught:
        programs.allocate("n1", "n2", wait=0.2)
    assert "fewer nodes" not in str(caught.value)


def test_a_program_of_slurm_that_fails_is_an_error_with_its_message(programs: Programs):
    for text in (FAILS, "true"):
        programs.write("scontrol", text)
        with pytest.raises(UsageError, match="scontrol show hostnames"):
            programs.allocate()
    programs.write("sinfo", FAILS)
    with pytest.raises(UsageError, match="slurm_load error: refused"):
        programs.allocate("n1")


def test_a_job_keeps_its_place_in_the_queue_if_its_reason_is_not_known(programs: Programs):
    programs.write("salloc", "sleep 1.2; echo '17 n[1-2]'; exec cat")
    programs.write("squeue", FAILS)
    assert programs.allocate() == ["n1", "n2"]
    assert programs.said == ["Slurm's reason why the job waits: unknown: slurm_load error: refused"]


def test_slurm_gets_fewer_questions_in_a_long_wait(monkeypatch: pytest.MonkeyPatch):
    def polls(wait: float) -> list[float]:
        now, found = 0.0, list[float]()
        while now < wait:
            monkeypatch.setattr(slurm.time, "monotonic", lambda now=now: now)
            found.append(slurm._poll(0.0, wait))
            now += found[-1]
        return found

    assert polls(3) == [1, 1, 1]
    assert polls(60) == [1, 1, 2, 4, 8, 10, 10, 10, 10, 4]


LOAD = """\
question: Which?
target: /srv/shared
factors: {workload.record_size: [1MiB, 64KiB]}
load: {fleet.nodes: [1, 3]}
workloads: [{dfsio-read: {files: 1, size: 1MiB}}]
"""
TOGETHER = ("--design", "together", "--nodes")


def test_what_no_nodes_can_run_does_not_wait_for_them(programs: Programs, program: Program):
    program.env["PATH"] = f"{programs.folder}:{program.env['PATH']}"
    program.write(LOAD)
    run = ("fleet", "run", "study.yaml", "--out", "shared/out")
    for command in ((*run, *TOGETHER), ("fleet", "check", "study.yaml", "--nodes")):
        few = program(*command, "slurm:2")
        assert (few.returncode, "3 nodes or more" in few.stderr) == (2, True), few.stderr
    shared = program.folder / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    unsafe = program(*run, *TOGETHER, "slurm:3")
    assert (unsafe.returncode, "could put a link" in unsafe.stderr) == (2, True), unsafe.stderr
    program.write(LOAD.replace("size: 1MiB", "size: 1MiB, figure: throughput"))
    joint = program(*run, *TOGETHER, "slurm:3")
    assert (joint.returncode, "the figure throughput" in joint.stderr) == (2, True), joint.stderr
    assert not (programs.folder / "requested").exists()
