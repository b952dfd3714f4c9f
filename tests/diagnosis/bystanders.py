"""Trials of a study beside innocent bystanders on this machine, and what their diagnoses blame.

A trial runs on a disk that the study made, and that alone limits it: by the cap of the study's
load limit, or by the model of a drive in memory. A diagnosis that names anything else is wrong. So
is one that names others anywhere, because nobody else uses the disk.
"""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from iostudy.diagnosis.bottleneck import Bottleneck, Diagnosis
from iostudy.diagnosis.context import DiagnosisContext, collect_operating_points
from iostudy.diagnosis.diagnose import diagnose
from iostudy.diagnosis.evidence import Confidence
from iostudy.node.conditions import NO_LIMIT, Conditions
from iostudy.node.local import LocalNode
from iostudy.study.combinations import Configuration
from iostudy.study.requests import build_request
from iostudy.study.sections import LoadLimit
from iostudy.study.targets.loopback import LoopbackTarget
from iostudy.study.targets.section import parse_target
from iostudy.telemetry.recorder import Recorder, Telemetry
from iostudy.units import KIB, MIB
from iostudy.workloads import catalog
from tests.calibration.rows import Row
from tests.diagnosis.calibration import compare_with_promises
from tests.fixtures_tracefs import mounted_tracefs
from tests.telemetry.emulated import BEGUN, Program, filled_disk, io

CORES = os.cpu_count() or 1
SECONDS = 4.0
_JOBS = 8
_CAP = 60
"""Operations a second: few enough for the disk below, whatever else is on this machine."""
_EARLIER_PAGES = 1500
"""Dirty pages apart from each other: about as many requests as a drive serves in a trial."""


@dataclass(frozen=True)
class Trial:
    """A trial on a loop device with a cap, or on the model of a drive, and what limits it."""

    capped: bool
    durable_writes: bool = False
    filesystem: str = "ext4"
    mount_options: str = ""

    @property
    def limit(self) -> Bottleneck:
        """What alone limits it."""
        return Bottleneck.CAP if self.capped else Bottleneck.DEVICE

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of its workload ``io``."""
        shared = {"order": "random", "record_size": "4KiB", "jobs": _JOBS, "size": "4MiB"}
        if not self.durable_writes:
            return {**shared, "operation": "read", "direct": True, "duration": SECONDS}
        return {
            **shared,
            "operation": "write",
            "dsync": True,
            "overwrite": True,
            "duration": SECONDS,
        }


READS = (Trial(capped=True), Trial(capped=False))
DURABLE = Trial(capped=False, durable_writes=True)
JOURNALS = (
    DURABLE,
    replace(DURABLE, mount_options="data=journal"),
    replace(DURABLE, filesystem="xfs"),
    replace(DURABLE, capped=True),
)


@dataclass(frozen=True)
class EarlierTrial:
    """A recorder that begins when an earlier trial has dirty pages on the disk of this one."""

    recorder: Recorder
    folder: Path
    writers: list[int] = field(default_factory=list)

    def start(self) -> None:
        """Begin the write-back of the earlier trial, and record."""
        with (self.folder / "earlier").open("wb") as file:
            for page in random.Random(1).sample(range(64 * MIB // (4 * KIB)), _EARLIER_PAGES):
                file.seek(page * 4 * KIB)
                file.write(b"\1")
        # The kernel's flusher writes for syncfs(2); a detached process is none of the workload.
        command = ["sh", "-c", 'sync --file-system "$0" >&- 2>&- & echo $!', str(self.folder)]
        self.writers.append(int(subprocess.check_output(command)))
        self.recorder.start()

    def stop(self) -> Telemetry:
        """Stop recording, then end what is left of the earlier trial."""
        telemetry = self.recorder.stop()
        (self.folder / "earlier").unlink()
        while any(Path(f"/proc/{each}/fd/0").exists() for each in self.writers):
            time.sleep(0.01)
        return telemetry


def run(trial: Trial, *, traced: bool, after_writes: bool) -> Diagnosis:
    """Run a study's trial, and diagnose it."""
    request = build_request("io", catalog.get("io").options.model_validate(trial.options))
    levels = {"filesystem.type": trial.filesystem}
    if trial.mount_options:
        levels["filesystem.options"] = trial.mount_options
    configuration = Configuration("all jobs", levels, {}, whole_plot="all")
    alone = replace(configuration, label="one job", options={"jobs": "1"})
    target = (
        LoopbackTarget(512 * MIB, "ext4")
        if trial.capped
        else parse_target({"drive": {"model": "ultrastar-7k8", "size": "512MiB"}})
    )
    limit = LoadLimit(iops=_CAP) if trial.capped else NO_LIMIT
    with (
        TemporaryDirectory() as folder,
        LocalNode(Conditions(target, limit=limit, block_latency=traced), Path(folder)) as node,
        node.block(request, seed=1) as session,
    ):
        other = [] if trial.capped else [session.trial(alone).telemetry.summary]
        after = replace(
            session,
            make_recorder=lambda: EarlierTrial(
                session.make_recorder(), session.place.directory.parent
            ),
        )
        result = (after if after_writes else session).trial(configuration)
    summary = result.telemetry.summary
    context = DiagnosisContext(
        result.devices,
        concurrency=_JOBS,
        operating_points=collect_operating_points([*other, summary]),
    )
    return diagnose(summary, context)


@contextmanager
def load_on_another_disk() -> Iterator[Sequence[Program]]:
    """16 threads of another program that write to another disk."""
    with filled_disk() as disk:
        yield [io([disk], "write", threads=16)]


@contextmanager
def journal() -> Iterator[Sequence[Program]]:
    """The journal of the trial's own durable writes: ext4, with data=journal, xfs."""
    yield []


@contextmanager
def earlier_trial() -> Iterator[Sequence[Program]]:
    """The write-back of an earlier trial on the same disk."""
    yield []


@contextmanager
def compilers() -> Iterator[Sequence[Program]]:
    """Compilers next door, one after another on every core."""
    with TemporaryDirectory() as folder:
        source = Path(folder) / "source.c"
        functions = (f"int f{n}(int x) {{ return x ? f{n}(x / 2) * {n} : x; }}" for n in range(500))
        source.write_text("\n".join(functions))
        # A compiler that outlives the loop finds no source.
        compiling = f"cc -O2 -c {source} -o {source}.$$.o"
        script = f"{compiling} && echo {BEGUN}; while {compiling} 2>/dev/null; do :; done"
        loop = ["sh", "-c", script]
        yield [Program(loop)] * CORES


KINDS: Mapping[Callable[[], AbstractContextManager[Sequence[Program]]], Sequence[Trial]] = {
    load_on_another_disk: (*READS, DURABLE),
    journal: JOURNALS,
    earlier_trial: READS,
    compilers: (*READS, DURABLE),
}
"""The bystanders, and the trials beside them."""


@dataclass(frozen=True)
class JudgedTrial:
    """A trial beside a bystander, and its diagnosis."""

    bystander: str
    trial: Trial
    diagnosis: Diagnosis
    load: float
    """The load average of the machine after it."""

    @property
    def blames_others(self) -> bool:
        """Whether any finding names others."""
        return any(each.limit is Bottleneck.FOREIGN for each in self.diagnosis.findings)

    @property
    def is_right(self) -> bool:
        """Whether the first finding names what limits the trial, and none names others."""
        return self.diagnosis.limit is self.trial.limit and not self.blames_others


def judge_trials(count: int) -> Iterator[JudgedTrial]:
    """Run so many trials beside each bystander, half of them with traced requests.

    They run in a process of their own: the bystanders are no descendants of it.
    """
    with (
        mounted_tracefs(),
        ProcessPoolExecutor(1, get_context("spawn")) as pool,
    ):
        for build, trials in KINDS.items():
            for number, trial in enumerate(itertools.islice(itertools.cycle(trials), count)):
                traced = number // len(trials) % 2 == 1
                with ExitStack() as stack:
                    for program in stack.enter_context(build()):
                        stack.enter_context(program.running())
                    task = pool.submit(
                        run, trial, traced=traced, after_writes=build is earlier_trial
                    )
                    diagnosis = task.result()
                yield JudgedTrial(str(build.__doc__), trial, diagnosis, os.getloadavg()[0])


def build_table(judged: Sequence[JudgedTrial]) -> list[Row]:
    """Rows by bystander and confidence of the first finding, and of all bystanders together."""
    counts: defaultdict[tuple[str, Confidence], Counter[bool]] = defaultdict(Counter)
    for each in judged:
        for finding in each.diagnosis.findings[:1]:
            for name in (each.bystander, "all bystanders"):
                counts[name, finding.confidence][each.is_right] += 1
    unclear = sum(not each.diagnosis.findings for each in judged)
    loads = sorted(each.load for each in judged)
    blamed = sum(each.blames_others for each in judged)
    return [
        ("bystander", "confidence", "right", "at least", "promised"),
        *compare_with_promises(counts),
        ("unclear", "", f"{unclear} of {len(judged)}", "", ""),
        ("others named in any finding", "", f"{blamed} of {len(judged)}", "", ""),
        (f"{CORES} processors, load average {loads[0]:.0f} to {loads[-1]:.0f}", "", "", "", ""),
    ]
