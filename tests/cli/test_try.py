"""Tests of ``try``, from the command line to the restored host."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from iostudy.cli import try_study
from iostudy.cli.signals import EndedBySignal
from iostudy.ledger.store import FILE_NAME
from iostudy.report.answer import COLUMNS, LINES
from iostudy.settings.transaction.locks import lock_output_folder
from tests.cli.inside import InProcessProgram
from tests.cli.program import Program
from tests.settings.programs import install
from tests.settings.test_shipped import ZFS

pytestmark = pytest.mark.child
DIRTY = Path("/proc/sys/vm/dirty_ratio")


def script(program: Program, name: str, text: str) -> None:
    path = program.folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def require_one_screen(text: str) -> None:
    lines = text.splitlines()
    assert len(lines) <= LINES, text
    assert all(len(line) <= COLUMNS or line.startswith("report  ") for line in lines), text


@pytest.mark.process
def test_two_commands_get_an_answer_of_one_screen(program: Program) -> None:
    script(program, "old", "sleep 0.3; echo x > left")
    script(program, "new", "sleep 0.1; test ! -e left")
    done = program("try", "./old", "./new", "--max-time", "60s", "--out", "out")
    assert done.returncode == 0, done.stderr
    require_one_screen(done.stdout)
    assert "./new takes" in done.stdout
    assert "less time than ./old" in done.stdout
    assert "▲ better" in done.stdout
    assert "will take" in done.stderr
    assert "not restored" in done.stderr
    assert "out/report.html" in done.stdout
    assert not list(program.folder.glob("iostudy-work-*"))


def test_the_study_of_a_line_can_be_printed_and_run(program: Program) -> None:
    printed = program("try", "true", "sleep 0.05", "--print")
    assert printed.returncode == 0, printed.stderr
    assert not (program.folder / "results").exists()
    program.write(printed.stdout.replace("[5, 30]", "[5, 8]"))
    done = program.run_study("--markdown")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("## Does it matter whether sleep 0.05 or true runs?")
    again = program("run", "out", "--resume", "--json")
    document = json.loads(again.stdout)
    assert document["question"] == "Does it matter whether sleep 0.05 or true runs?"
    assert document["answer"]
    assert document["verdicts"][0]["configuration"] == "sleep 0.05"


def test_a_figure_of_the_output_decides(program: Program) -> None:
    script(program, "bench.sh", 'echo "write_p99: $LEVEL.$$"')
    done = program(
        "try",
        *("--vary", "workload.environment=[LEVEL=1, LEVEL=3]"),
        *("--figure", "write_p99", "--margin", "10%", "--out", "out", "--json"),
        *("--", "./bench.sh"),
    )
    assert done.returncode == 0, done.stderr
    (verdict,) = json.loads(done.stdout)["verdicts"]
    assert verdict["verdict"] == "worse"


@pytest.mark.root
@pytest.mark.exclusive("host")
def test_a_setting_of_the_host_is_restored(program: Program) -> None:
    before = DIRTY.read_text()
    script(program, "bench.sh", f'echo "write_p99: $(cat {DIRTY})"')
    values = "20,5" if before.strip() != "5" else "5,20"
    done = program(
        "try",
        *("--vary", f"vm.dirty_ratio={values}", "--figure", "write_p99", "--out", "out"),
        *("--", "./bench.sh"),
    )
    assert done.returncode == 0, done.stderr
    assert "better" in done.stdout
    require_one_screen(done.stdout)
    assert "will change   sysctl.vm.dirty_ratio" in done.stderr
    assert DIRTY.read_text() == before


@pytest.mark.root
def test_a_fio_command_under_two_schedulers(program: Program) -> None:
    done = program(
        "try",
        *("--vary", "block.scheduler=none,mq-deadline", "--on", "{loopback: {size: 64MiB}}"),
        *("--max-time", "8s", "--out", "out"),
        *("--", "fio", "--name=reader", "--rw=randread", "--size=8m", "--runtime=200ms"),
        *("--time_based", "--output-format=json"),
    )
    assert done.returncode == 0, done.stderr
    require_one_screen(done.stdout)
    assert "reader" in done.stdout
    assert "mq-deadline" in done.stdout


def test_a_stopped_line_is_resumed_in_an_unsafe_folder(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(_study: object, folder: Path, *_: object, **__: object) -> None:
        (folder / FILE_NAME).touch()
        raise EndedBySignal(signal.SIGINT)

    monkeypatch.setattr(try_study, "_run", stop)
    done = program("try", "true", "sleep 0.01", "--out", "out", "--unsafe-folders")
    assert done.returncode == 128 + signal.SIGINT
    assert "Resume with: iostudy run out --unsafe-folders --resume\n" in done.stderr


def test_a_study_comes_from_a_pipe(program: Program) -> None:
    study = program("try", "true", "sleep 0.05", "--print").stdout
    study = study.replace("blocks: [5, 30]", "blocks: [5, 8]")
    reads, writes = os.pipe()
    os.write(writes, study.encode())
    os.close(writes)
    done = program("run", f"/dev/fd/{reads}", "--out", "out", "--json")
    os.close(reads)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["study"] == "study"
    checked = subprocess.run(
        [sys.executable, "-m", "iostudy", "check", "-"],
        input=study,
        cwd=program.folder,
        env=program.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("printed", ["p99: 0", "p99: -4"])
def test_a_figure_that_cannot_be_compared_ends_it_before_the_study(
    program: Program, printed: str
) -> None:
    script(program, "old", "echo p99: 5")
    script(program, "new", f"echo {printed}")
    done = program("try", "./old", "./new", "--figure", "p99")
    assert done.returncode == 3
    assert f"found:  p99 is {printed[5:]} as printed, and a verdict needs a figure" in done.stderr
    assert "p99 under ./new" in done.stderr
    assert not (program.folder / "results").exists()


@pytest.mark.parametrize("command", ["./missing", "false"])
def test_a_command_that_fails_leaves_no_folder(program: Program, command: str) -> None:
    done = program("try", "true", command, "--max-time", "60s")
    assert done.returncode in (2, 3), done.stderr
    assert not (program.folder / "results").exists()


@pytest.mark.parametrize(
    ("sides", "seconds", "state"),
    [
        (["true", "./once"], "60s", "complete"),
        (["./once", "true"], "60s", "complete"),
        (["sleep 0.7", "./once"], "3s", "stopped"),  # no time is left to rehearse the second
    ],
)
def test_a_side_that_fails_in_every_run_ends_with_3_and_says_so(
    program: Program, sides: list[str], seconds: str, state: str
) -> None:
    ran = program.folder / "ran"
    script(program, "once", f"test ! -e {ran} || exit 1; touch {ran}")
    if state == "stopped":
        ran.touch()
    done = program("try", *sides, "--max-time", seconds, "--out", "out", "--json")
    assert done.returncode == 3, done.stderr
    assert "every run of ./once on time failed" in done.stderr
    document = json.loads(done.stdout)
    assert document["exit_code"] == 3
    assert document["state"] == state
    assert (
        document["answer"] == "Every run of ./once on time failed: there is no figure to compare."
    )
    assert not any(step["command"] for step in document["next_steps"])


def test_a_time_that_no_verdict_fits_is_said_before_it_is_spent(program: Program) -> None:
    line = ("try", "sleep 0.3", "sleep 0.31", "--cold", "--max-time", "2s", "--out", "out")
    done = program(*line)
    assert "; nothing" not in done.stderr
    assert "5 blocks, the fewest for a verdict, need --max-time" in " ".join(done.stderr.split())


def test_what_waits_for_another_study_says_once_what_it_will_do(program: Program) -> None:
    (program.folder / "out").mkdir()
    with lock_output_folder(program.folder / "out"):
        done = program("try", "true", "false", "--wait", "3s", "--out", "out")
    assert done.returncode == 2
    assert done.stderr.count("each configuration runs once") == 1
    assert done.stderr.count("waiting for") == 1


@pytest.mark.root
def test_commands_run_as_another_user() -> None:
    with TemporaryDirectory(prefix="iostudy-try-") as name:  # pytest's is closed to other users
        Path(name).chmod(0o755)
        done = InProcessProgram(Path(name))(
            "try",
            *("--user", "nobody", "--out", "out", "--json", "--max-time", "8s"),
            *("sh -c 'touch own; test $(id -un) = nobody'", "sh -c 'touch own; sleep 0.1'"),
        )
    assert done.returncode == 0, done.stderr


ZFS_LINE = (
    *("--vary", "recordsize=128K,16K", "--read", "zfs get -Hpo value recordsize tank/db"),
    *("--write", "zfs set recordsize={} tank/db", "--max-time", "5s", "--out", "out"),
)


@pytest.fixture
def zfs(program: Program) -> Path:
    """The folder of what a ``zfs`` on PATH keeps."""
    install(program.folder / "bin", "zfs", ZFS)
    program.env["PATH"] = f"{program.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return program.folder / "bin/state"


@pytest.mark.interpreter  # reads PATH once
def test_a_property_of_zfs_is_varied_by_its_commands_and_restored(
    program: Program, zfs: Path
) -> None:
    script(program, "bench.sh", f"cat {zfs}/recordsize >>{program.folder}/seen; sleep 0.05")
    done = program("try", *ZFS_LINE, "--", "./bench.sh")
    assert done.returncode == 0, done.stderr
    require_one_screen(done.stdout)
    assert {*(program.folder / "seen").read_text().split()} == {"131072", "16384", "local"}
    assert (zfs / "recordsize").read_text() == "131072 local\n"


@pytest.mark.interpreter  # reads PATH once
def test_a_command_that_does_not_write_the_old_value_ends_with_4_and_the_command_to_type(
    program: Program, zfs: Path
) -> None:
    script(
        program, "bench.sh", f"grep -q 16384 {zfs}/recordsize && chmod a-x {zfs.parent}/zfs; true"
    )
    done = program("try", *ZFS_LINE, "--", "./bench.sh")
    assert done.returncode == 4, done.stderr
    assert "zfs set recordsize=131072 tank/db" in done.stderr
    assert (zfs / "recordsize").read_text() == "16384 local\n"
    (zfs.parent / "zfs").chmod(0o755)
    restored = program("restore")
    assert restored.returncode == 0, restored.stderr
    assert (zfs / "recordsize").read_text() == "131072 local\n"
