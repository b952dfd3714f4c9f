"""Campaign of kills: ``python -m tests.plugins.fleet.kills MOMENTS [SEED] [FLEETS]``, as root.

At each moment, a fleet run on nodes with a real sshd loses a node, a link or the controller. FLEETS
runs take place at once, each on nodes of its own. A moment is repeated by its seed: ``1 SEED``.
SIGTERM ends the campaign after the moments that have begun.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from iostudy.ledger.store import FILE_NAME as LEDGER
from iostudy_fleet.design import Design
from iostudy_fleet.record import read_record
from tests.cli.program import Program
from tests.plugins.fleet.hosts import AGENT, find_processes, kill_all
from tests.plugins.fleet.kill_checks import find_residue, finished_rows, require_same_analysis
from tests.plugins.fleet.namespaces import Namespaces
from tests.watchdogs import find_watchdogs, kill_watchdogs

LEASE_SECONDS = 6
START_SHARE = 0.2
"""Of the moments, those before the first trial."""
START_SECONDS = 20.0
STUDY_SECONDS = 11.0
"""Times of an undisturbed run, until the first trial and after it, with two fleets on 2 CPUs."""
QUIET_SECONDS = 60.0
HANG_GUARD_SECONDS = 240
MOST_RESUMPTIONS = 3
NODES_OF_A_FLEET = 3
STUDIES = {
    Design.REPLICATE: """\
question: Which?
target: {loopback: {size: 64MiB}}
factors: {block.scheduler: [none, mq-deadline]}
workloads: [{dfsio-write: {files: 1, size: 4MiB}}]
decide: {margin: 99%, risk: 49%, blocks: [12, 12]}
""",
    Design.TOGETHER: """\
question: Which?
target: TARGET
factors: {net.ipv4.tcp_fin_timeout: [60, 30]}
workloads: [{dfsio-read: {files: 1, size: 1MiB}}]
decide: {margin: 99%, risk: 49%, blocks: [6, 6]}
""",
}


class Kind(StrEnum):
    """What is lost."""

    NODE = "node"
    NODE_AND_WATCHDOG = "node with its watchdog"
    CONTROLLER = "controller"
    LINK = "link, for the time of a lease and a half"
    LINK_FOR_GOOD = "link, until the run is resumed"


@dataclass(frozen=True)
class Moment:
    """A loss at some seconds after the start of a run, or of its first trial."""

    seed: int
    design: Design
    kind: Kind
    victim: int
    has_trials: bool
    seconds: float

    def __str__(self) -> str:
        since = "first trial" if self.has_trials else "start"
        what = f"{self.design.value}, {self.kind.value}"
        return f"seed {self.seed}: {what}, {self.seconds:.1f} s after the {since}"


@dataclass(frozen=True)
class Outcome:
    """A moment, and whether a check has failed."""

    moment: Moment
    failed: bool


def draw_moment(seed: int) -> Moment:
    """The random moment of a seed."""
    chance = random.Random(seed)
    design, kind = chance.choice(list(Design)), chance.choice(list(Kind))
    has_trials = chance.random() > START_SHARE
    longest = STUDY_SECONDS if has_trials else START_SECONDS
    victim = chance.randrange(NODES_OF_A_FLEET)
    return Moment(seed, design, kind, victim, has_trials, chance.uniform(0.0, longest))


@dataclass
class KilledRun:
    """A fleet run on some of the nodes, its loss, and its resumption."""

    moment: Moment
    spaces: Namespaces
    names: Sequence[str]
    folder: Path

    def __post_init__(self) -> None:
        self.program = Program(self.folder)
        self.target.mkdir(parents=True)
        text = STUDIES[self.moment.design]
        self.program.write(text.replace("TARGET", str(self.target)))

    @property
    def target(self) -> Path:
        return self.folder / "target"

    @property
    def victim(self) -> str:
        return self.names[self.moment.victim]

    def run(self) -> str:
        """Lose something and resume; return how the first run ended. AssertionError if it shows."""
        process = self.program.start(*self._arguments())
        self._wait_for_moment(process)
        ended_before = process.poll() is not None
        if not ended_before:
            self._strike(process.pid)
        process.communicate(timeout=HANG_GUARD_SECONDS)
        self._wait_for_quiet()
        if self.moment.kind is not Kind.NODE_AND_WATCHDOG:
            self._require_clean()
        before = finished_rows(self._ledgers())
        self._require_same_analysis()
        self.spaces.set_link(self.victim, "up")
        resumed = self._resume()
        self._wait_for_quiet()
        self._require_clean()
        after = finished_rows(self._ledgers())
        for node, rows in before.items():
            assert after[node][: len(rows)] == rows, f"{node}: a finished trial is lost"
        self._require_same_analysis()
        loss = "after its end" if ended_before else f"exit code {process.returncode}"
        return f"{loss}; trials kept {sum(map(len, before.values()))}; {resumed} resumptions"

    def end(self) -> None:
        """End what is left, after a failure too."""
        self.spaces.set_link(self.victim, "up")
        self.program.end()
        for name in self.names:
            kill_all(find_processes(self.spaces.state(name)))

    def _arguments(self) -> list[str]:
        options = ["--inventory", str(self.spaces.folder / "inventory")]
        options += ["--limit", ",".join(self.names), "--out", "out", "--lease", f"{LEASE_SECONDS}s"]
        options += ["--work", str(self.folder / "work"), "--yes"]
        return ["fleet", "run", "study.yaml", *options, "--design", self.moment.design.value]

    def _wait_for_moment(self, process: subprocess.Popen[str]) -> None:
        while self.moment.has_trials and process.poll() is None:
            if any(self.folder.rglob(LEDGER)):
                break
            time.sleep(0.1)
        time.sleep(self.moment.seconds)

    def _strike(self, controller: int) -> None:
        state = self.spaces.state(self.victim)
        match self.moment.kind:
            case Kind.CONTROLLER:
                kill_all([controller])
            case Kind.LINK:
                self.spaces.set_link(self.victim, "down")
                time.sleep(1.5 * LEASE_SECONDS)
                self.spaces.set_link(self.victim, "up")
            case Kind.LINK_FOR_GOOD:
                self.spaces.set_link(self.victim, "down")
            case Kind.NODE:
                watchdogs = find_watchdogs(str(state))
                others = (own for own in find_processes(state) if own not in watchdogs)
                kill_all(own for own in others if _find_parent(own) not in watchdogs)
            case Kind.NODE_AND_WATCHDOG:
                kill_watchdogs(str(state))
                kill_all(find_processes(state))

    def _wait_for_quiet(self) -> None:
        """Wait until nothing of the study runs on a node; agents of a cut node wait longer."""
        end = time.monotonic() + QUIET_SECONDS
        while running := list(self._running()):
            assert time.monotonic() < end, f"still running: {running}"
            time.sleep(0.2)
        for name in self.names:
            kill_all(find_processes(self.spaces.state(name), AGENT))

    def _running(self) -> Iterator[int]:
        for name in self.names:
            state = self.spaces.state(name)
            agents = set(find_processes(state, AGENT))
            yield from set(find_processes(state)) - agents

    def _require_clean(self) -> None:
        residue = find_residue(self.spaces, self.names, self.folder)
        assert not residue, f"left behind: {residue}"

    def _ledgers(self) -> dict[str, Path]:
        """The folder of each ledger by its node; one of all if they run together."""
        out, record = self.program.out, read_record(self.program.out)
        if record is None:
            return {}
        if self.moment.design is Design.TOGETHER:
            return {"all": out}
        return {
            node: Path(own.folder) / "out" if Path(own.folder, "out").exists() else out / node
            for node, own in record.nodes.items()
        }

    def _require_same_analysis(self) -> None:
        if self.program.out.exists():
            require_same_analysis(self.program, self.moment.design)

    def _resume(self) -> int:
        """Resume until the study is complete: an overloaded host can lose nodes by itself."""
        for number in range(1, MOST_RESUMPTIONS + 1):
            has_begun = read_record(self.program.out) is not None
            done = self.program(*self._arguments(), *(["--resume"] if has_begun else []))
            if done.returncode == 0:
                return number
        raise AssertionError(f"no resumption completes it: {done.returncode}, {done.stderr}")


def _find_parent(process: int) -> int:
    """The process that started another one; 0 if that has ended."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return 0
    return int(status.rpartition(")")[2].split()[1])


def run_moments(seeds: Sequence[int], fleets: int, ended: threading.Event) -> list[Outcome]:
    """Run the moments of the seeds, until the campaign is ended."""
    names = [f"k{number}" for number in range(1, fleets * NODES_OF_A_FLEET + 1)]
    groups = [names[first::fleets] for first in range(fleets)]
    shares = [seeds[first::fleets] for first in range(fleets)]
    with tempfile.TemporaryDirectory(prefix="kills-") as path:
        spaces = Namespaces(Path(path), tuple(names))

        def run_share(group: Sequence[str], share: Sequence[int]) -> list[Outcome]:
            return [_run_moment(spaces, group, own) for own in share if not ended.is_set()]

        try:
            spaces.start()
            with ThreadPoolExecutor(fleets) as threads:
                return [own for done in threads.map(run_share, groups, shares) for own in done]
        finally:
            spaces.end()


def _run_moment(spaces: Namespaces, names: Sequence[str], seed: int) -> Outcome:
    moment, began = draw_moment(seed), time.monotonic()
    run = KilledRun(moment, spaces, names, spaces.folder / f"m{seed}")
    failed = False
    try:
        text = run.run()
    except Exception as error:  # noqa: BLE001 - the campaign continues
        failed, text = True, f"FAILED: {type(error).__name__}: {error}"
    finally:
        run.end()
    say(f"{moment}, {time.monotonic() - began:.0f} s in all: {text}")
    return Outcome(moment, failed)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """Run the campaign and print the counts; 1 if anything failed."""
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    count, first, fleets = (int(own) for own in (*sys.argv[1:], "1", "1")[:3])
    outcomes = run_moments(range(first, first + count), fleets, ended)
    kinds = Counter((own.moment.design.value, own.moment.kind.value) for own in outcomes)
    for (design, kind), number in sorted(kinds.items()):
        say(f"{number:3} x {design}: {kind}")
    failures = sum(own.failed for own in outcomes)
    say(f"kills: {len(outcomes) - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
