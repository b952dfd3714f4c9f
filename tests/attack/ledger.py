"""Campaign of damaged output folders: bytes changed, files cut, files lost.

A finished study of a fake node is damaged in one place at a time, each time in a fresh copy. Its
report as text and as JSON, a comparison, the winner to persist and what a resumption would run must
either be those of the whole study, or end with an IostudyError, or flag the damage.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from iostudy.cli.report_output import read_recorded, read_report
from iostudy.errors import IostudyError
from iostudy.execution.schedule import PlannedSchedule
from iostudy.execution.session import prepare_session
from iostudy.ledger.store import Ledger
from iostudy.ledger.studies import open_ledger, read_study
from iostudy.persist.winner import select_settings
from iostudy.report.documents.comparison import build_comparison
from iostudy.report.render import json_, markdown
from iostudy.study.parser import parse
from iostudy.study.plan import make_plan
from iostudy.telemetry.samples import Samples
from tests.attack.campaign import AttackCount, attempts
from tests.fake_node import FakeNode

MOST_BYTES = 2000
MOST_CUTS = 200
_SECONDS = 60.0
_TEXT = """
question: Which?
target: /tmp
factors: {sysctl.vm.swappiness: [60, 10]}
workloads: [{io: {operation: write, sync: fsync}}]
decide: {margin: 3%, risk: 5%, blocks: [5, 9]}
"""
_FLAG = "No timeline of"
_DATABASE = ("ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm", "ledger.seal")


def run(seconds: float, seed: int) -> list[AttackCount]:
    """Changed bytes and cut files of a study that ended and of one whose process was killed."""
    changed = AttackCount("ledger: a byte of a file changed")
    cut = AttackCount("ledger: a file cut short")
    lost = AttackCount("ledger: a file removed")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        studies = [DamagedCopies(folder, make_ended(folder / "ended"))]
        studies.append(DamagedCopies(folder, make_killed(folder / "killed", folder / "ended")))
        draw = random.Random(seed)
        for number in attempts(seconds * 0.8, MOST_BYTES):
            changed.record(studies[number % 2].changed(draw))
        for number in attempts(seconds * 0.2, MOST_CUTS):
            cut.record(studies[number % 2].cut(draw))
        for study in studies:
            for failure in study.removed():
                lost.record(failure)
    return [changed, cut, lost]


class LedgerNode(FakeNode):
    """The other level is faster by a little, so that a changed figure changes the verdict."""

    def __init__(self) -> None:
        super().__init__()
        self._draw = random.Random(7)

    def circumstances(self):
        return {"host": {"block_devices": {}}}

    def run(self, request, configuration):
        result = super().run(request, configuration)
        faster = 1.03 if configuration.label == "10" else 1.0
        value = 1000 * faster * (1 + self._draw.gauss(0, 0.01))
        seconds = np.arange(0.0, _SECONDS, 1.0)
        columns = {"vm.nr_writeback": np.full(len(seconds), 100.0)}
        telemetry = replace(result.telemetry, samples=Samples(seconds, columns))
        return replace(result, figures={**result.figures, "bandwidth": value}, telemetry=telemetry)


def make_ended(folder: Path) -> Path:
    """The output folder of a study that ended."""
    folder.mkdir()
    study = parse(_TEXT, where="study.yaml", name="study")
    prepare_session(study, folder, root=True, resume=False).execute(
        LedgerNode(), seed=1, listeners=()
    )
    return folder


def make_killed(folder: Path, ended: Path) -> Path:
    """The same trials in a folder whose last process was killed, with SQLite's log and index."""
    shutil.copytree(ended / "telemetry", folder / "telemetry")
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            with open_ledger(ended) as ledger:
                row, trials = ledger.study(), ledger.rows()
            new = Ledger.create(folder, row)
            for trial in trials:
                new.finish(replace(trial, id=new.begin(trial)))
                if trial.position == 2:
                    new.complete(trial.workload, trial.block, trial.attempt)
        os._exit(0)  # SQLite has had no chance to close the file
    os.waitpid(child, 0)
    return folder


class DamagedCopies:
    """Copies of an output folder with a single damage, and the report of each."""

    def __init__(self, folder: Path, whole: Path) -> None:
        self._whole = whole
        self._copy = folder / f"copy-of-{whole.name}" / "out"
        self._other = folder / "ended"
        with self._fresh():
            self._expected = [view(self._copy, self._other) for view in VIEWS]
        assert not any(_FLAG in expected for expected in self._expected)
        telemetry = sorted((whole / "telemetry").iterdir())
        database = [whole / name for name in _DATABASE if (whole / name).exists()]
        self._files = [path.relative_to(whole) for path in (*database, *telemetry)]

    def changed(self, draw: random.Random) -> str:
        """Change one bit, or a byte, of a file; what went wrong, empty if nothing."""
        with self._fresh():
            file = self._drawn(draw)
            content = bytearray((self._copy / file).read_bytes())
            at = draw.randrange(len(content))
            content[at] ^= 1 << draw.randrange(8) if draw.random() < 0.5 else draw.randrange(1, 256)
            (self._copy / file).write_bytes(content)
            return self._judged(f"{self._whole.name}/{file} byte {at} = {content[at]}")

    def cut(self, draw: random.Random) -> str:
        """Cut a file short; what went wrong, empty if nothing."""
        with self._fresh():
            file = self._drawn(draw)
            length = draw.randrange((self._copy / file).stat().st_size)
            os.truncate(self._copy / file, length)
            return self._judged(f"{self._whole.name}/{file} cut to {length}")

    def removed(self) -> Iterator[str]:
        """Remove each file in turn; for each what went wrong, empty if nothing."""
        for file in self._files:
            with self._fresh():
                (self._copy / file).unlink()
                yield self._judged(f"{self._whole.name}/{file} removed")

    def _fresh(self) -> tempfile.TemporaryDirectory[str]:
        parent = self._copy.parent
        shutil.rmtree(parent, ignore_errors=True)
        shutil.copytree(self._whole, self._copy)
        return tempfile.TemporaryDirectory(dir=parent)

    def _drawn(self, draw: random.Random) -> Path:
        """Most damage to the database, as it has most of what counts."""
        files = [file for file in self._files if (self._copy / file).stat().st_size]
        weights = [3.0 if file.name in _DATABASE else 3.0 / len(files) for file in files]
        return draw.choices(files, weights)[0]

    def _judged(self, damage: str) -> str:
        for view, expected in zip(VIEWS, self._expected, strict=True):
            try:
                found = view(self._copy, self._other)
            except IostudyError:
                continue
            except Exception as error:  # noqa: BLE001 - a traceback is what is looked for
                where = traceback.extract_tb(error.__traceback__)[-1]
                return f"{damage}: {view.__name__}: {error!r} at {where.name}"
            if found != expected and _FLAG not in found:
                return f"{damage}: {view.__name__} differs silently"
        return ""


def _report(folder: Path, _: Path) -> str:
    report = read_report(folder)
    return markdown.render(report) + json_.render(report)


def _comparison(folder: Path, other: Path) -> str:
    return json_.render(build_comparison(read_recorded(folder), read_recorded(other), ()))


def _winner(folder: Path, _: Path) -> str:
    return str(select_settings(folder, None, ()))


def _resumption(folder: Path, _: Path) -> str:
    """The block that a resumption would run next, and what it begins with."""
    ledger = Ledger.open(folder)
    try:
        study, row, trials = read_study(ledger), ledger.study(), ledger.rows()
    finally:
        ledger.close()
    agenda = PlannedSchedule(study, make_plan(study, row.seed))
    return json.dumps([str(agenda.next(trials)), str(trials), str(row)])


VIEWS: tuple[Callable[[Path, Path], str], ...] = (_report, _comparison, _winner, _resumption)
