"""Commands with a full or closed stdout, or under limits on processes and memory."""

from __future__ import annotations

import itertools
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from tests.attack.campaign import AttackCount, attempts

STDOUTS = ("full", "closed")
COMPLETION = {"_IOSTUDY_COMPLETE": "complete_bash", "COMP_WORDS": "iostudy re", "COMP_CWORD": "1"}
_CANNOT_PRINT = 3
_DOCUMENTED = {0, 2, 3, 4, 5}
_PROGRAM = (sys.executable, "-m", "iostudy")
_HANG_SECONDS = 120
_MIB = 1 << 20
_STUDY = """\
question: Does the record size matter?
target: FOLDER
factors: {workload.record_size: [1MiB, 64KiB]}
workloads: [{io: {size: 1MiB}}]
decide: {margin: 5%, risk: 5%, blocks: [5, 5]}
validity: {foreign_io: 9999%, attempts: 20, steal: 99%}
"""
_HAS_WATCH = find_spec("iostudy_watch") is not None
_NO_LIMIT: Callable[[], None] = lambda: None  # noqa: E731 - a value among others


def run(seconds: float, seed: int) -> list[AttackCount]:
    """Every command with every stdout, then random commands under random limits."""
    with tempfile.TemporaryDirectory(prefix="iostudy-streams-") as folder:
        environment = {"IOSTUDY_STATE_DIR": f"{folder}/state"}
        commands = _commands(Path(folder), environment)
        return [
            _full_and_closed(commands, environment, seconds),
            _limited(commands, environment, seconds, random.Random(seed)),
        ]


def attack(
    command: Sequence[str],
    stdout: str,
    environment: Mapping[str, str],
    before: Callable[[], None] = _NO_LIMIT,
) -> str:
    """Run a command whose stdout takes nothing; what went wrong, if anything did."""

    def prepare() -> None:
        before()
        if stdout == "closed":
            os.close(1)

    with Path("/dev/full").open("wb") as full:
        done = _run(command, environment, stdout=full, preexec_fn=prepare)
    return _judge(command, done, {_CANNOT_PRINT}) or (
        "" if "stdout" in done.stderr else f"{command}: no word about stdout: {done.stderr}"
    )


def _commands(folder: Path, environment: Mapping[str, str]) -> list[tuple[str, ...]]:
    """A command of each kind, with a study that is whole for those that read one."""
    study = folder / "study.yaml"
    study.write_text(_STUDY.replace("FOLDER", str(folder)), encoding="utf-8")
    for name in ("one", "two"):
        done = _run(("run", str(study), "--out", str(folder / name)), environment)
        assert done.returncode == 0, done.stderr
    one, two = str(folder / "one"), str(folder / "two")
    reports = [("report", one, "--format", form) for form in ("html", "markdown", "json")]
    return [
        *(("--help",), ("--version",), ("settings",), ("workloads",), ("check", str(study))),
        *(("report", one), *reports, ("report", "--reference", "R1"), ("compare", one, two)),
        *(("run", str(study), "--out", one, "--resume"), ("doctor",), ("doctor", "--json")),
        *((("watch", "--count", "1"), ("watch", "--count", "1", "--json")) if _HAS_WATCH else ()),
        ("get", "sysctl.vm.swappiness"),
        ("bench", "io", "--target", str(folder), "-o", "operation=write", "-o", "size=1MiB"),
    ]


def _full_and_closed(
    commands: Sequence[tuple[str, ...]], environment: Mapping[str, str], seconds: float
) -> AttackCount:
    count = AttackCount("a command with a full or closed stdout")
    cases = list(itertools.product(commands, STDOUTS))
    for number in attempts(seconds, len(cases)):
        count.record(attack(*cases[number], environment))
    return count


def _limited(
    commands: Sequence[tuple[str, ...]],
    environment: Mapping[str, str],
    seconds: float,
    rng: random.Random,
) -> AttackCount:
    """Few open files, little memory; as these limits hold for root, too."""
    count = AttackCount("a command under limits on memory and open files")
    for _ in attempts(seconds, 100):
        command = rng.choice(commands)
        limit, least, most = rng.choice(
            [
                (resource.RLIMIT_AS, 200 * _MIB, 4000 * _MIB),
                (resource.RLIMIT_NOFILE, 8, 40),
                (resource.RLIMIT_FSIZE, 0, _MIB),
            ]
        )
        value = rng.randint(least, most)

        def set_limit(limit: int = limit, value: int = value) -> None:
            resource.setrlimit(limit, (value, value))

        done = _run(command, environment, preexec_fn=set_limit)
        failure = _judge(command, done, _DOCUMENTED)
        count.record(failure and f"limit {limit} of {value}: {failure}")
    return count


def _run(
    command: Sequence[str], environment: Mapping[str, str], **options: object
) -> subprocess.CompletedProcess[str]:
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [*_PROGRAM, *command],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        timeout=_HANG_SECONDS,
        check=False,
        **streams,
    )


def _judge(
    command: Sequence[str], done: subprocess.CompletedProcess[str], allowed: set[int]
) -> str:
    """What is wrong with how the command ended; empty if nothing is."""
    if "Traceback" in done.stderr:
        return f"{command}: traceback: {done.stderr[-300:]}"
    if done.returncode not in allowed:
        return f"{command}: exit code {done.returncode}: {done.stderr[-300:]}"
    return ""
