"""Writers that are killed, workloads that are stopped, and programs that print without end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from iostudy import durable
from iostudy.telemetry.recorder import ProcRecorder
from iostudy.units import MIB
from iostudy.workloads.external import program
from iostudy.workloads.external.program import Program
from tests.attack.campaign import AttackCount, attempts

_MOST = 300
_STOP_SECONDS = 3.0
_PIECE = b"x" * 65536


def run(seconds: float, seed: int) -> list[AttackCount]:
    """Try each in turn until the time is over."""
    draw = random.Random(seed)
    killed = AttackCount("interrupted: kill -9 of a process that writes a file")
    stopped = AttackCount("interrupted: SIGSTOP of any process of a workload")
    printed = AttackCount("interrupted: a program that prints more than is kept")
    for _ in attempts(seconds, _MOST):
        for _ in range(10):
            killed.record(kill_writer(draw))
        stopped.record(stop_workload(draw))
        printed.record(print_much(draw))
    return [killed, stopped, printed]


def kill_writer(draw: random.Random) -> str:
    """Return a failure if a file is partial, or if one is left without its name."""
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "file"
        old = draw.random() < 0.5
        if old:
            path.write_bytes(b"old")
        child = os.fork()
        if not child:
            _write_for_ever(path, new=not old)
        time.sleep(draw.uniform(0, 0.05))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        left = {each.name: each.stat().st_size for each in path.parent.iterdir()}
    size = left.pop("file", None)
    whole = (3, 4 * len(_PIECE)) if old else (None, 4 * len(_PIECE))
    # A file that replaces another has a temporary name, with its whole content, in between.
    strange = [name for name, length in left.items() if not old or length != whole[1]]
    return f"left: {left}, size {size}" if strange or size not in whole else ""


def _write_for_ever(path: Path, *, new: bool) -> None:
    while True:
        if not new:
            durable.write_whole(path, 4 * _PIECE)
            continue
        with durable.open_new(path) as file:
            for _ in range(4):
                file.write(_PIECE)
        path.unlink()


def stop_workload(draw: random.Random) -> str:
    """Return a failure unless the stop of a process at any depth is in the telemetry."""
    depth = draw.randrange(4)
    line = "exec sleep 30"
    for _ in range(depth):
        line = f"sh -c '{line}' & wait" if "'" not in line else f"({line}) & wait"
    recorder = ProcRecorder([], workload=[os.getpid()])
    with subprocess.Popen(["sh", "-c", line], start_new_session=True) as child:
        recorder.start()
        time.sleep(0.4)
        victim = draw.choice(_members(child.pid))
        os.kill(victim, signal.SIGSTOP)
        time.sleep(_STOP_SECONDS)
        os.kill(victim, signal.SIGCONT)
        stopped = recorder.stop().summary.workload.get("stopped_s", 0.0)
        os.killpg(child.pid, signal.SIGKILL)
    return "" if stopped > 0 else f"a stop at depth {depth} was not noticed"


def _members(session: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text("latin-1").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            found.append(int(stat.parent.name))
    return found


def print_much(draw: random.Random) -> str:
    """Return a failure unless every byte is counted and the end is kept."""
    size = draw.randrange(program.KEPT_BYTES, program.KEPT_BYTES + 64 * MIB)
    stream = draw.choice(("stdout", "stderr"))
    code = (
        f"import sys; out = sys.{stream}.buffer; left = {size} - 3\n"
        "while left: left -= out.write((b'y\\n' * 32768)[:left])\n"
        "out.write(b'END')"
    )
    done = program.run(Program((sys.executable, "-c", code), Path("/"), 120.0))
    output = done.stdout if stream == "stdout" else done.stderr
    counted = len(output.text) + output.lost_bytes
    if counted != size or not output.text.endswith("END"):
        return f"{counted} of {size} bytes were counted"
    return "" if len(output.text) == program.KEPT_BYTES else f"{len(output.text)} bytes are kept"
