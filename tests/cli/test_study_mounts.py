"""A study that mounts what it compares: checked, run, killed, and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from iostudy.host.mounts import find_mounts_at
from tests.cli.program import Program
from tests.mounts import sftp_server

STUDY = """\
question: Which file system?
target:
  directories:
    memory: {mount: own, type: tmpfs, options: "size=64M,noatime", at: MEMORY}
    served: {mount: "127.0.0.1:DATA", type: fuse.sshfs, options: directport=PORT, at: SERVED}
factors: {target.directory: [memory, served]}
workloads:
  - io: {label: file-reads, files: 1, size: 1MiB}
decide: {margin: 3%, risk: 5%, blocks: BLOCKS}
"""


def write_study(program: Program, port: int, blocks: str) -> tuple[Path, Path, Path]:
    """The study; return its two mount points and the folder that is served."""
    folders = {name: program.folder / name.lower() for name in ("MEMORY", "SERVED", "DATA")}
    text = STUDY.replace("PORT", str(port)).replace("BLOCKS", blocks)
    for name, folder in folders.items():
        folder.mkdir()
        text = text.replace(name, str(folder))
    program.write(text)
    return folders["MEMORY"], folders["SERVED"], folders["DATA"]


@pytest.mark.root
@pytest.mark.process
def test_it_mounts_and_unmounts_what_it_compares(program: Program) -> None:
    with sftp_server() as port:
        memory, served, data = write_study(program, port, "[3, 3]")
        plan = program("check", "study.yaml", "--full")
        assert plan.returncode == 0, plan.stderr
        assert f"own is mounted at {memory}, unmounted at the end" in plan.stdout
        assert f"own, tmpfs, size=64M,noatime, which the study mounts at {memory}" in plan.stdout
        assert not find_mounts_at(memory)
        done = program.run_study()
        assert done.returncode == 0, done.stderr
        assert not find_mounts_at(memory)
        assert not find_mounts_at(served)
        assert list(data.iterdir()) == []
    report = json.loads((program.out / "report.json").read_text())
    found = {each["name"]: each for each in report["directories"]}
    assert (found["memory"]["source"], found["memory"]["filesystem"]) == ("own", "tmpfs")
    assert "noatime" in found["memory"]["options"]
    assert found["served"]["storage"] == "network"


@pytest.mark.root
@pytest.mark.process
def test_a_killed_study_leaves_no_mount(program: Program) -> None:
    with sftp_server() as port:
        memory, served, data = write_study(program, port, "[900, 900]")
        running = program.start_study()
        while not any(data.rglob("*")):
            assert running.poll() is None, running.communicate()
        running.kill()
        running.communicate()
        assert program("restore").returncode == 0
        assert not find_mounts_at(memory)
        assert not find_mounts_at(served)
        assert list(data.iterdir()) == []


@pytest.mark.root
def test_a_mount_that_fails_leaves_the_others_unmounted(program: Program) -> None:
    memory, _, _ = write_study(program, 1, "[3, 3]")
    done = program.run_study()
    assert done.returncode in (2, 3)
    assert "to mount 127.0.0.1:" in done.stderr
    assert not find_mounts_at(memory)


@pytest.mark.root
def test_a_point_with_files_is_refused(program: Program) -> None:
    memory, _, _ = write_study(program, 1, "[3, 3]")
    (memory / "file").touch()
    for command in ("check", "run"):
        done = program(command, "study.yaml", *(["--out", "out"] if command == "run" else []))
        assert done.returncode == 2
        assert "files are in it" in done.stderr
