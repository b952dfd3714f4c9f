"""Tests of folders that other users could redirect: refused without ``--unsafe-folders``."""

from __future__ import annotations

import re

import pytest

from tests.cli.test_commands import WITHOUT_ROOT

BENCH = (
    "bench",
    "io",
    "-o",
    "operation=write",
    "-o",
    "files=1",
    "-o",
    "size=1MiB",
    "--target",
    "weak",
)


@pytest.fixture(name="weak")
def weak_(program):
    folder = program.folder / "weak"
    folder.mkdir()
    folder.chmod(0o777)
    return folder


@pytest.mark.parametrize(
    "command",
    [
        BENCH,
        ("check", "weak.yaml"),
        ("run", "weak.yaml", "--out", "out"),
        ("run", "study.yaml", "--out", "weak"),
        ("run", "study.yaml", "--out", "weak/out"),
        ("power", "study.yaml", "--out", "weak/out"),
        ("selftest", "--target", "weak", "--out", "out"),
        pytest.param(
            ("hadoop", "up", "--data-dir", "weak"), marks=pytest.mark.all_plugins, id="hadoop up"
        ),
    ],
    ids=" ".join,
)
def test_unsafe_folder_is_refused_before_any_write(program, weak, command):
    program.write(WITHOUT_ROOT)
    text = (program.folder / "study.yaml").read_text()
    weaker = re.sub("^target: .*", f"target: {weak}", text, flags=re.MULTILINE)
    (program.folder / "weak.yaml").write_text(weaker)
    done = program(*command)
    assert done.returncode == 2, done.stderr
    assert "weak is writable by every user (drwxrwxrwx)" in done.stderr
    assert "--unsafe-folders" in done.stderr
    assert list(weak.iterdir()) == []


@pytest.mark.usefixtures("weak")
def test_unsafe_folders_waives_the_check(program):
    done = program(*BENCH, "--unsafe-folders")
    assert done.returncode == 0, done.stderr
