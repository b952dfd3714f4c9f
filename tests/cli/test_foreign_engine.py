"""No command loads the library that a fio job names as its engine, whoever wrote the study."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from iostudy.ledger.store import Ledger
from tests.report import factory

pytestmark = pytest.mark.process

STUDY = """\
question: Which?
target: .
factors: {workload.override: {small: {bs: 4k}, large: {bs: 8k}}}
workloads: [{fio: {job: evil.fio}}]
decide: {mode: auto}
"""
SOURCE = """\
#include <fcntl.h>
__attribute__((constructor)) static void leave_trace(void) { open("TRACE", O_CREAT, 0600); }
"""


@dataclass(frozen=True)
class Library:
    """A library that leaves a trace when it is loaded, and a fio that does when it is started."""

    path: Path
    trace: Path
    fio: Path


@pytest.fixture
def library() -> Iterator[Library]:
    """Every user may load it, and leave the trace."""
    for name in ("cc", "fio"):
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
    folder = Path(tempfile.mkdtemp())
    made = Library(folder / "evil.so", folder / "traces" / "trace", folder / "bin" / "fio")
    folder.chmod(0o755)
    made.trace.parent.mkdir()
    made.trace.parent.chmod(0o777)
    made.fio.parent.mkdir()
    made.fio.write_text(f"#!/bin/sh\ntouch {made.trace}\n")
    made.fio.chmod(0o755)
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-x", "c", "-o", made.path, "-"],
        input=SOURCE.replace("TRACE", str(made.trace)),
        text=True,
        check=True,
    )
    yield made
    shutil.rmtree(folder)


@pytest.mark.parametrize("engine", ["PATH", "external:PATH", "./evil.so", "${EVIL}"])
def test_a_foreign_engine_is_refused_before_fio_loads_it(program, library, engine):
    shutil.copy(library.path, program.folder / "evil.so")
    program.env["EVIL"] = str(library.path)
    job = f"[a]\nioengine={engine.replace('PATH', str(library.path))}\nhipri=1\n"
    for name in ("evil.fio", "other.fio"):
        (program.folder / name).write_text(job)
    program.write(STUDY)
    subprocess.run(
        ["fio", "--parse-only", "evil.fio"],
        cwd=program.folder,
        env=program.env,
        capture_output=True,
        check=False,
    )
    assert library.trace.exists(), "fio itself does not load it"
    library.trace.unlink()
    for command in (
        ("check", "study.yaml", "--full"),
        ("run", "study.yaml", "--yes"),
        ("bench", "fio", "-o", "job=evil.fio"),
        ("try", "fio evil.fio", "fio other.fio"),
    ):
        done = program(*command)
        assert not library.trace.exists(), command
        assert done.returncode == 2, (command, done.stdout, done.stderr)
        assert "does not work on files" in done.stderr, (command, done.stderr)
        assert "Traceback" not in done.stderr


def test_a_recorded_study_starts_no_fio(program, library):
    program.env["PATH"] = f"{library.fio.parent}{os.pathsep}{os.environ['PATH']}"
    program.write(STUDY)
    job = f"[a]\nioengine={library.path}\nhipri=1\n"
    (program.folder / "evil.fio").write_text(job)
    program("check", "study.yaml", "--full")
    for mode in ("auto", "switchback"):
        text = STUDY.replace("auto", mode)
        for number in "12":
            folder = program.folder / mode / number
            folder.mkdir(parents=True)
            row = replace(factory.study_row(factory.study()), text=text, seed=int(number))
            Ledger.create(folder, row).close()
        for command in (
            ("report", f"{mode}/1"),
            ("list", mode),
            ("compare", f"{mode}/1", f"{mode}/2"),
            ("persist", f"{mode}/1"),
            ("fleet", "report", f"{mode}/1", f"{mode}/2"),
        ):
            done = program(*command)
            assert "Traceback" not in done.stderr, done.stderr
            assert not library.trace.exists(), command
