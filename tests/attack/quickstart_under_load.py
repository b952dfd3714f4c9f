"""Campaign of the ready-made quickstart on a machine whose processors other programs share.

Each run has to end with exit code 0 and a report in which every trial counts. A run takes minutes:
a bound of a minute gives one, ``--seconds 2400`` about ten.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from iostudy.study import library
from tests.attack.campaign import AttackCount, attempts

MOST_RUNS = 10
LEAST_SHARE, MOST_SHARE = 0.2, 0.4
"""Of every CPU, taken by competing programs: drawn anew for each second."""

_BUSY = """
import random, sys, time
draw = random.Random(sys.argv[1])
while True:
    share, end = draw.uniform(float(sys.argv[2]), float(sys.argv[3])), time.monotonic() + 1
    while time.monotonic() < end:
        spin = time.monotonic() + 0.05 * share
        while time.monotonic() < spin:
            pass
        time.sleep(0.05 * (1 - share))
"""


def run(seconds: float, seed: int) -> list[AttackCount]:
    """Runs of the quickstart under load, and those without a whole report."""
    count = AttackCount("quickstart while others take 20-40 % of every CPU")
    draw = random.Random(seed)
    with _busy(draw):
        for _ in attempts(seconds, MOST_RUNS):
            with TemporaryDirectory(prefix="iostudy-attack-") as folder:
                count.record(_quickstart(Path(folder), draw.getrandbits(32)))
    return [count]


def _quickstart(folder: Path, seed: int) -> str:
    """What is wrong with a run; empty if nothing is."""
    out = folder / "out"
    command = (sys.executable, "-m", "iostudy", "run", str(library.find_study("quickstart")))
    environment = {**os.environ, "IOSTUDY_STATE_DIR": str(folder / "state")}
    ended = subprocess.run(
        [*command, "--out", str(out), "--seed", str(seed)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        return f"exit code {ended.returncode}: {ended.stderr.strip().splitlines()[-4:]}"
    report = out / "report.json"
    if not report.exists():
        return "no report"
    document = json.loads(report.read_text())
    left_out = [trial["reason"] for trial in document["trials"] if not trial["counts"]]
    return f"{len(left_out)} trials do not count: {left_out[0]}" if left_out else ""


@contextmanager
def _busy(draw: random.Random) -> Iterator[None]:
    """One competing program for each CPU."""
    shares = (str(LEAST_SHARE), str(MOST_SHARE))
    busy = [
        subprocess.Popen([sys.executable, "-c", _BUSY, str(draw.getrandbits(32)), *shares])
        for _ in range(os.cpu_count() or 1)
    ]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
