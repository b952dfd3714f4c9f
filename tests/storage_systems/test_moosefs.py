"""A study that mounts a network file system of a package: MooseFS, with two sets of options."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy.host.mounts import find_mounts_at
from tests.cli.program import HANG_GUARD_SECONDS, Program
from tests.storage_systems import moosefs

pytestmark = [pytest.mark.slow, pytest.mark.root, pytest.mark.process]

STUDY = """\
question: Which cache mode?
target:
  directories:
    local: LOCAL
    default: {mount: "ADDRESS:", at: DEFAULT, type: moosefs}
    uncached: {mount: "ADDRESS:", at: UNCACHED, type: moosefs, options: mfscachemode=NEVER}
factors: {target.directory: [local, default, uncached]}
workloads:
  - events: {jobs: 2, events: 4, compute: 1ms}
decide: {margin: 5%, risk: 5%, blocks: BLOCKS}
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if not all(map(shutil.which, moosefs.PROGRAMS)):
        pytest.skip("needs moosefs-master, moosefs-chunkserver and moosefs-client: make systems")
    found = moosefs.find_address()
    if found is None:
        pytest.skip("needs an address that is not a loop-back one")
    folder = tmp_path_factory.mktemp("moosefs")
    with moosefs.serving(folder, found):
        prepare(folder / "point", found)
        yield found


def prepare(point: Path, address: str) -> None:
    """Wait until it takes data, and let only root write: a new one is everybody's."""
    point.mkdir()
    subprocess.run(["mount", "-t", "moosefs", f"{address}:", point], check=True)
    until = time.monotonic() + HANG_GUARD_SECONDS
    while True:
        try:
            (point / "file").write_bytes(b"x")
            break
        except OSError:  # no chunk server yet
            assert time.monotonic() < until
            time.sleep(0.1)
    (point / "file").unlink()
    point.chmod(0o755)
    subprocess.run(["umount", point], check=True)


def write_study(program: Program, address: str, blocks: str) -> list[Path]:
    """The study; return its mount points."""
    text = STUDY.replace("ADDRESS", address).replace("BLOCKS", blocks)
    for name in ("LOCAL", "DEFAULT", "UNCACHED"):
        folder = program.folder / name.lower()
        folder.mkdir()
        text = text.replace(name, str(folder))
    program.write(text)
    return [program.folder / "default", program.folder / "uncached"]


def test_it_is_mounted_with_both_sets_of_options(address: str, program: Program) -> None:
    points = write_study(program, address, "[3, 3]")
    done = program.run_study()
    assert done.returncode == 0, done.stderr
    assert not any(map(find_mounts_at, points))
    report = json.loads((program.out / "report.json").read_text())
    found = {each["name"]: (each["filesystem"], each["storage"]) for each in report["directories"]}
    assert found["default"] == found["uncached"] == ("fuse", "network")


def test_a_killed_study_leaves_neither_mounts_nor_files(address: str, program: Program) -> None:
    points = write_study(program, address, "[900, 900]")
    running = program.start_study()
    while not any(files for _, _, files in os.walk(points[1])):
        assert running.poll() is None, running.communicate()
        time.sleep(0.01)
    running.kill()
    running.communicate()
    assert program("restore").returncode == 0
    assert not any(map(find_mounts_at, points))
    left = program.folder / "left"
    left.mkdir()
    subprocess.run(["mount", "-t", "moosefs", f"{address}:", left], check=True)
    try:
        assert list(left.glob("iostudy-*")) == []
    finally:
        subprocess.run(["umount", left], check=True)
