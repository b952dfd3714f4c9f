"""A fleet on nodes of a real Slurm: its job, what ends it, and what is left."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy_fleet.record import read_record
from iostudy_fleet.supervision.work_folder import EndReason, WorkFolder
from iostudy_fleet.together.joint_run import read_node_parts
from tests.cli.program import Program
from tests.plugins.fleet.hosts import AGENT, SUPERVISOR
from tests.plugins.fleet.slurm import SlurmCluster, is_installed
from tests.plugins.fleet.small_study import HANG_GUARD_SECONDS, build_study, wait_until

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.skipif(not is_installed(), reason="needs slurmctld and slurmd"),
]
NAMES = ("n1", "n2")
SECTION = "nodes: {slurm: {nodes: COUNT, partition: main, wait: 3s}}\n"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[SlurmCluster]:
    cluster = SlurmCluster(tmp_path, NAMES)
    cluster.start()
    yield cluster
    cluster.end()


@pytest.fixture
def program(cluster: SlurmCluster, tmp_path: Path) -> Program:
    program = Program(tmp_path)
    program.env["SLURM_CONF"] = str(cluster.config)
    (tmp_path / "target").mkdir()
    write(program, blocks=4)
    return program


def write(program: Program, blocks: int, count: int = 2) -> None:
    text = build_study(program.folder / "target", blocks=blocks, least=min(blocks, 40))
    program.write(text + SECTION.replace("COUNT", str(count)))


def arguments(program: Program, *more: str) -> list[str]:
    work = str(program.folder / "work")
    options = ["--out", "out", "--work", work, "--lease", "8s", *more]
    return ["fleet", "run", "study.yaml", *options]


def has_begun(program: Program) -> bool:
    """Whether the study has begun on all nodes."""
    folders = (program.folder / "work").glob("*")
    return sum(WorkFolder(folder).has_ledger() for folder in folders) == len(NAMES)


def test_a_study_has_whole_nodes_for_its_time(cluster: SlurmCluster, program: Program):
    check = program("fleet", "check", "study.yaml")
    assert check.returncode == 0, check.stderr
    assert check.stdout.count(" ready") == len(NAMES)
    assert cluster.list_jobs() == []
    done = program(*arguments(program))
    assert done.returncode == 0, done.stderr
    assert "2 complete" in done.stderr
    assert "Changes against 1MiB" in done.stdout
    assert list((program.folder / "work").iterdir()) == []
    assert cluster.list_jobs() == []
    assert not any(cluster.find(node, module) for node in NAMES for module in (AGENT, SUPERVISOR))
    again = program(*arguments(program, "--resume"))
    assert (again.returncode, again.stdout) == (0, done.stdout)


def test_a_job_that_waits_or_is_refused_gives_slurms_reason(program: Program):
    write(program, blocks=4, count=3)
    waits = program(*arguments(program))
    assert waits.returncode == 2
    assert "the job waits, and Slurm's reason is PartitionConfig" in waits.stderr
    refused = program("fleet", "check", "--nodes", "slurm:2", "--python", "/nowhere")
    assert (refused.returncode, refused.stderr.count("no Python in /nowhere: slurmstepd")) == (2, 2)
    program.env["SALLOC_PARTITION"] = "other"
    other = program("fleet", "check", "--nodes", "slurm:2")
    assert other.returncode == 2
    assert "salloc ended with 1" in other.stderr
    assert "nvalid partition" in other.stderr
    program.env["PATH"] = str(program.folder)
    missing = program("fleet", "check", "--nodes", "slurm:2")
    assert "not installed: salloc, srun, scontrol, squeue, sinfo" in missing.stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_without_a_controller_studies_end_in_order_and_resume_on_the_same_nodes(
    cluster: SlurmCluster, program: Program, number: signal.Signals
):
    write(program, blocks=40)
    process = program.start(*arguments(program))
    wait_until(lambda: has_begun(program))
    process.send_signal(number)
    process.communicate(timeout=HANG_GUARD_SECONDS)
    wait_until(lambda: cluster.list_jobs() == [])
    wait_until(lambda: not any(cluster.find(node, AGENT) for node in NAMES))
    record = read_record(program.out)
    assert record is not None
    for own in record.nodes.values():
        ending = WorkFolder(Path(own.folder)).read_ending()
        assert ending is not None, "Slurm killed the supervisor before it was done"
        assert ending.reason is not EndReason.LEASE
    wait_until(lambda: "idle" in cluster.ask("sinfo", "--noheader", "--format=%t"))
    resumed = program(*arguments(program, "--resume"))
    assert resumed.returncode == 0, resumed.stderr
    assert "2 complete" in resumed.stderr


def test_a_cancelled_job_is_reported_and_resumed_on_the_nodes_that_are_there(
    cluster: SlurmCluster, program: Program
):
    write(program, blocks=40)
    process = program.start(*arguments(program))
    wait_until(lambda: has_begun(program))
    (job,) = cluster.list_jobs()
    cluster.ask("scancel", job)
    _, stderr = process.communicate(timeout=HANG_GUARD_SECONDS)
    assert process.returncode == 3, stderr
    assert "Slurm ended the job: salloc: Job allocation" in stderr
    cluster.ask("scontrol", "update", "nodename=n2", "state=drain", "reason=test")
    alone = program(*arguments(program, "--resume"))
    assert alone.returncode == 3, alone.stderr
    assert "n2 is left out: Slurm says that it is drain" in alone.stderr
    assert "n1 is complete" in alone.stderr
    cluster.ask("scontrol", "update", "nodename=n2", "state=resume")
    resumed = program(*arguments(program, "--resume"))
    assert resumed.returncode == 0, resumed.stderr
    assert "n2 is complete" in resumed.stderr


def test_a_node_that_fails_ends_its_own_study_and_not_those_of_the_others(
    cluster: SlurmCluster, program: Program
):
    write(program, blocks=40)
    process = program.start(*arguments(program))
    wait_until(lambda: has_begun(program))
    cluster.ask("scontrol", "update", "nodename=n2", "state=down", "reason=test")
    _, stderr = process.communicate(timeout=HANG_GUARD_SECONDS)
    assert process.returncode == 3, stderr
    assert "Slurm ended the job" not in stderr
    assert "n2 is lost" in stderr
    assert "n1 is complete" in stderr
    cluster.ask("scontrol", "update", "nodename=n2", "state=resume")
    resumed = program(*arguments(program, "--resume"))
    assert resumed.returncode == 0, resumed.stderr
    assert "n2 is complete" in resumed.stderr


def test_nodes_of_slurm_run_trials_together(cluster: SlurmCluster, program: Program):
    done = program(*arguments(program, "--design", "together"))
    assert done.returncode == 0, done.stderr
    assert "Nodes" in done.stdout
    assert {own.node for own in read_node_parts(program.rows()[0].parts)} == set(NAMES)
    assert cluster.list_jobs() == []
    for name in NAMES:
        cluster.ask("scontrol", "update", f"nodename={name}", "state=drain", "reason=test")
    again = program(*arguments(program, "--design", "together", "--resume"))
    assert (again.returncode, again.stdout) == (0, done.stdout), again.stderr
