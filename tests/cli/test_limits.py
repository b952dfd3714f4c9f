"""The program under real limits and on a real read-only file system: one error, its exit code."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.program import HANG_GUARD_SECONDS, Program, study
from tests.telemetry.emulated import Groups, Values, group

USAGE = 2
RUN = ("run", "study.yaml", "--out", "out")
REPORT = ("report", "out")


def refusal(program: Program, *arguments: str, before: Callable[[], None] | None = None) -> str:
    """The error of a command that ends with the exit code of a usage error."""
    program.write(study())
    process = program.start(*arguments, before=before)
    output, error = process.communicate(timeout=HANG_GUARD_SECONDS)
    assert process.returncode == USAGE, error
    assert output == ""
    *_, where, wanted, found, remedy = error.splitlines()
    assert where.startswith("iostudy: ")
    assert [line.split()[0] for line in (wanted, found, remedy)] == ["wanted:", "found:", "remedy:"]
    return error


@pytest.fixture(params=[8, 12])
def few_processes(request: pytest.FixtureRequest) -> Iterator[Groups]:
    """Control groups whose processes may have that many threads."""
    limit = [("pids.max", str(request.param))]
    with group(pids=Values(limit, limit)) as groups:
        yield groups


@pytest.mark.interpreter
@pytest.mark.root
@pytest.mark.parametrize("arguments", [RUN, REPORT])
def test_few_processes(program: Program, few_processes: Groups, arguments: tuple[str, ...]) -> None:
    def join() -> None:
        for path in few_processes:
            (path / "cgroup.procs").write_text(str(os.getpid()))

    error = refusal(program, *arguments, before=join)
    assert "could be started" in error
    assert "pids.max" in error


def limit_address_space() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (1_000_000 << 10,) * 2)  # ulimit -v 1000000


@pytest.mark.interpreter
@pytest.mark.parametrize("arguments", [RUN, REPORT])
def test_little_address_space(program: Program, arguments: tuple[str, ...]) -> None:
    assert "ulimit -v" in refusal(program, *arguments, before=limit_address_space)


@pytest.mark.interpreter
def test_a_command_that_loads_no_library_needs_little_address_space(program: Program) -> None:
    program.write(study())
    check = program.start("check", "study.yaml", before=limit_address_space)
    _, error = check.communicate(timeout=HANG_GUARD_SECONDS)
    assert check.returncode == 0, error


@pytest.fixture
def read_only(loop: str, tmp_path: Path) -> Iterator[Path]:
    """The mount point of a read-only ext4 with an empty folder ``out``."""
    point = tmp_path / "read-only"
    (point / "out").mkdir(parents=True)
    command = ["mkfs.ext4", "-q", "-d", str(point), f"/dev/{loop}"]
    subprocess.run(command, check=True)
    (point / "out").rmdir()
    subprocess.run(["mount", "-o", "ro", f"/dev/{loop}", str(point)], check=True)
    yield point
    subprocess.run(["umount", str(point)], check=True)


@pytest.mark.process
@pytest.mark.root
@pytest.mark.parametrize(
    "arguments",
    [("run", "study.yaml", "--out", "new"), RUN, ("selftest", "--out", "new")],
    ids=["new", "existing", "selftest"],
)
def test_an_output_folder_on_a_read_only_file_system(
    program: Program, read_only: Path, arguments: tuple[str, ...]
) -> None:
    *command, folder = arguments
    assert "Read-only file system" in refusal(program, *command, str(read_only / folder))


@pytest.mark.process
@pytest.mark.root
def test_a_state_directory_on_a_read_only_file_system(program: Program, read_only: Path) -> None:
    program.env["IOSTUDY_STATE_DIR"] = str(read_only / "state")
    assert "Read-only file system" in refusal(program, *RUN)
    assert not list(program.out.glob("scratch-*"))
