"""``check`` and ``run`` of a study that compares directories, also after its server has died."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.mounts import mounted, sshfs_mounted

STUDY = """\
question: Which directory?
target: {directories: {memory: MEMORY, served: SERVED}}
factors: {target.directory: [memory, served]}
workloads:
  - io: {label: file-reads, files: 1, size: 1MiB}
decide: {margin: 3%, risk: 5%, blocks: BLOCKS}
"""


def write_study(program: Program, blocks: str) -> tuple[Path, Path]:
    """The study and its two directories, without mounts."""
    memory, served = program.folder / "memory", program.folder / "served"
    text = STUDY.replace("MEMORY", str(memory)).replace("SERVED", str(served))
    (program.folder / "study.yaml").write_text(text.replace("BLOCKS", blocks))
    (program.folder / "data").mkdir()
    return memory, served


def holds_files(folder: Path) -> bool:
    """Whether a file is below the folder; os.walk passes over folders that vanish meanwhile."""
    return any(files for _, _, files in os.walk(folder))


@pytest.mark.root
def test_report_and_plan_name_the_mounts(program: Program) -> None:
    memory, served = write_study(program, "[3, 3]")
    with (
        mounted(memory, "-t", "tmpfs", "tmpfs"),
        sshfs_mounted(served, program.folder / "data"),
    ):
        plan = program("check", "study.yaml", "--full").stdout
        assert f"tmpfs of tmpfs at {memory} (memory): rw" in plan
        assert "warning" not in plan
        assert "(network): rw" in plan
        assert "6 times: what reads need is made again in each directory" in plan
        done = program.run_study()
        assert done.returncode == 0, done.stderr
        assert list(memory.iterdir()) == list(served.iterdir()) == []
    report = json.loads((program.out / "report.json").read_text())
    found = [(own["name"], own["storage"], own["filesystem"]) for own in report["directories"]]
    assert found == [("memory", "memory", "tmpfs"), ("served", "network", "fuse.sshfs")]
    assert "share a directory run one after another" in report["method"]["text"]
    assert "Directories compared" in (program.out / "report.html").read_text()


@pytest.mark.root
@pytest.mark.process
def test_files_on_a_dead_mount_are_removed_once_it_is_back(program: Program) -> None:
    memory, served = write_study(program, "[900, 900]")
    data = program.folder / "data"
    with mounted(memory, "-t", "tmpfs", "tmpfs"):
        with sshfs_mounted(served, data) as mount:
            running = program.start_study()
            while not holds_files(data):
                assert running.poll() is None
            mount.process.send_signal(signal.SIGKILL)
            _, errors = running.communicate()
            assert running.returncode == 4, errors
            assert "iostudy-work-" in errors
        assert list(memory.iterdir()) == []
        assert list(data.iterdir()) != []
        with sshfs_mounted(served, data):
            restored = program("restore")
        assert restored.returncode == 0, restored.stderr
    assert list(data.iterdir()) == []


@pytest.mark.process
def test_a_missing_directory_is_refused(program: Program) -> None:
    write_study(program, "[3, 3]")
    found = program("check", "study.yaml", "--full")
    assert found.returncode == 2
    assert "it does not exist" in found.stderr
