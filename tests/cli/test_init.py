"""``init`` writes a study file that ``check`` accepts, and overwrites nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from iostudy.workloads import catalog

NATIVE = [
    name
    for name in catalog.names()
    if not catalog.get(name).service and not catalog.get(name).only_simulated
]
BY_JAVA = ["hadoop.nnthroughput"]


@pytest.mark.parametrize("target", ["loopback", "."])
@pytest.mark.parametrize("name", [name for name in NATIVE if name not in BY_JAVA])
@pytest.mark.child
def test_check_accepts_the_file_of_every_workload(program, name, target):
    done = program("init", "mine.yaml", "--target", target, "--workload", name)
    assert done.returncode == 0, done.stderr
    assert "iostudy check mine.yaml" in done.stderr
    done = program("check", "mine.yaml")
    assert done.returncode == 0, (done.stderr, (program.folder / "mine.yaml").read_text())
    assert name in done.stdout


@pytest.mark.all_plugins
def test_a_workload_of_simulations_is_refused(program):
    done = program("init", "mine.yaml", "--target", ".", "--workload", "trace")
    assert done.returncode == 2
    assert "trace runs on a simulated drive only" in done.stderr
    assert not (program.folder / "mine.yaml").exists()


def test_comments_describe_the_host_and_the_choices(program):
    done = program("init", "-", "--target", "loopback", "--workload", "io")
    comments = [line for line in done.stdout.splitlines() if line.startswith("#")]
    assert f"Linux {Path('/proc/sys/kernel/osrelease').read_text().strip()}" in comments[0]
    for word in ("CPUs", "margin", "risk", "iostudy workloads io"):
        assert any(word in line for line in comments)
    assert list(program.folder.iterdir()) == []


@pytest.mark.root
def test_a_device_in_use_is_refused(program):
    mounted = next(
        words[0]
        for words in map(
            str.split, Path("/proc/self/mounts").read_text(errors="replace").splitlines()
        )
        if words[0].startswith("/dev/") and Path(words[0]).is_block_device()
    )
    done = program("init", "mine.yaml", "--target", mounted, "--workload", "io")
    assert done.returncode == 2
    assert "a scratch device that is not in use" in done.stderr
    assert not (program.folder / "mine.yaml").exists()


def test_a_file_is_not_overwritten(program):
    program.write("mine: 1\n")
    done = program("init", "--target", ".", "--workload", "io")
    assert done.returncode == 2
    assert "study.yaml" in done.stderr
    assert (program.folder / "study.yaml").read_text() == "mine: 1\n"


def test_without_a_terminal_the_options_are_required(program, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    done = program("init", "--workload", "io")
    assert (done.returncode, "--target" in done.stderr) == (2, True)
    done = program("init", "--target", "loopback")
    assert (done.returncode, "--workload" in done.stderr) == (2, True)
    assert list(program.folder.iterdir()) == []


@pytest.mark.child
def test_questions_have_defaults(program, monkeypatch):
    questions = []

    def prompt(question: str, *, default: str, err: bool, value_proc: Callable[[str], Any]) -> Any:
        questions.append(question)
        return value_proc(default)

    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("typer.prompt", prompt)
    done = program("init")
    assert done.returncode == 0, done.stderr
    assert len(questions) == 2
    assert program("check", "study.yaml", "--full").returncode == 0


@pytest.mark.child
def test_a_mistyped_answer_leads_to_the_question_again(program, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    answers = iter(["nowhere", ".", "iozne", "iozone"])
    prompted = typer.prompt.__globals__
    monkeypatch.setitem(prompted, "visible_prompt_func", lambda _: next(answers))
    done = program("init")
    assert done.returncode == 0, done.stderr
    assert "no such directory or device" in done.stderr
    assert "did you mean iozone" in done.stderr
    assert "iozone" in (program.folder / "study.yaml").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--target", "nowhere", "--workload", "io"), "no such directory or device"),
        (("--target", "/dev/null", "--workload", "io"), "another kind of file"),
        (("--target", ".", "--workload", "iozne"), "iozone"),
    ],
)
def test_a_wrong_answer_is_refused(program, arguments, words):
    done = program("init", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert list(program.folder.iterdir()) == []
