"""Calibration of the diagnosis: how often a named resource limits the run, by confidence.

A finding is right if the throughput follows the named resource: an elasticity of at least one
half between 15 % more and 15 % less of it. A disturbance is only made 15 % weaker, and concurrency
only raised, by at least one thread. The runs are those of `tests.diagnosis.model`; the thresholds
were chosen by others than those that judge them. As a program it writes the table of
docs/telemetry/calibration.md: ``python -m tests.diagnosis.calibration 340``.
"""

from __future__ import annotations

import itertools
import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean

from iostudy.analysis.distributions import beta_cdf
from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.diagnose import diagnose
from iostudy.diagnosis.evidence import Confidence
from iostudy.telemetry.summary import TelemetrySummary
from tests.calibration.rows import Row, markdown, placed
from tests.diagnosis.model import Model, Run, build, change_capacity, draw_models

PAGE = Path(__file__).parents[2] / "docs/telemetry/calibration.md"
PROMISED = {Confidence.HIGH: 0.95, Confidence.MEDIUM: 0.8, Confidence.LOW: 0.5}
CHOICE, JUDGEMENT = 1, 3
"""Seeds of the situations for the choice of thresholds, and of those for the judgement."""
ELASTIC = 0.5
RISK = 0.05
_CHANGE = 1.15
_DISTURBANCES = (Bottleneck.FOREIGN, Bottleneck.STEAL)
"""Bottlenecks that an intervention can only reduce."""
_ONE_SIDED = (*_DISTURBANCES, Bottleneck.CONCURRENCY)
_OPERATIONS = 2500
_LEAST_SECONDS = 0.6


@dataclass(frozen=True)
class Situation:
    """A model with its telemetry."""

    model: Model
    seed: int
    seconds: float
    rate: float
    summary: TelemetrySummary
    context: DiagnosisContext

    @classmethod
    def record(cls, model: Model, seed: int) -> Situation:
        """Run it for about as many operations as suffice for an elasticity."""
        pace = Run(model, seed, 0.2).rate
        seconds = max(_LEAST_SECONDS, _OPERATIONS / max(pace, 1.0))
        run, summary, context = build(model, seed, seconds)
        return cls(model, seed, seconds, run.rate, summary, context)

    def elasticity(self, limit: Bottleneck) -> float:
        """The relative change of the throughput by that of a resource; NaN without the resource.

        A disturbance is only made weaker, so that more runs are needed for the same precision.
        """
        runs = 4 if limit in _DISTURBANCES else 2
        seeds = range(runs * self.seed, runs * (self.seed + 1))
        return fmean(_elasticity(self.model, limit, seed, self.seconds) for seed in seeds)


def _elasticity(model: Model, limit: Bottleneck, seed: int, seconds: float) -> float:
    more = change_capacity(model, limit, _CHANGE)
    less = model if limit in _ONE_SIDED else change_capacity(model, limit, 1 / _CHANGE)
    if more is None or less is None:
        return math.nan
    span = math.log(_CHANGE) * (1 if limit in _ONE_SIDED else 2)
    if limit is Bottleneck.CONCURRENCY:
        span = math.log(more.threads / less.threads)
    return math.log(_rate(more, seed, seconds) / _rate(less, seed, seconds)) / span


@cache
def _rate(model: Model, seed: int, seconds: float) -> float:
    return max(Run(model, seed, seconds).rate, 1e-9)


def record_situations(count: int, seed: int) -> Iterator[Situation]:
    """Record so many situations of the declared distribution."""
    for number, model in enumerate(itertools.islice(draw_models(random.Random(seed)), count)):
        yield Situation.record(model, number)


@dataclass(frozen=True)
class JudgedFinding:
    """A finding and whether the resource limited the run."""

    finding: Finding
    is_main: bool
    is_right: bool


def judge(situation: Situation) -> list[JudgedFinding]:
    """Compare each finding with the elasticity of its resource."""
    return [
        JudgedFinding(finding, place == 0, situation.elasticity(finding.limit) >= ELASTIC)
        for place, finding in enumerate(diagnose(situation.summary, situation.context).findings)
    ]


def lower_bound(right: int, total: int) -> float:
    """Return the one-sided 95 % Clopper-Pearson bound of a share."""
    low, high = 0.0, 1.0
    while right and high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (
            (middle, high) if beta_cdf(right, total - right + 1, middle) < RISK else (low, middle)
        )
    return low


def build_table(judged: Sequence[Sequence[JudgedFinding]]) -> list[Row]:
    """Rows by resource and confidence of main findings, and of all further ones together."""
    counts: defaultdict[tuple[str, Confidence], Counter[bool]] = defaultdict(Counter)
    for each in itertools.chain.from_iterable(judged):
        name = str(each.finding.limit) if each.is_main else "further findings"
        for key in {name, "all main findings"} if each.is_main else {name}:
            counts[key, each.finding.confidence][each.is_right] += 1
    unclear = sum(not found for found in judged)
    return [
        ("resource", "confidence", "right", "at least", "promised"),
        *compare_with_promises(counts),
        ("unclear", "", f"{unclear} of {len(judged)}", "", ""),
    ]


def compare_with_promises(
    counts: Mapping[tuple[str, Confidence], Counter[bool]],
) -> Iterator[Row]:
    """Rows of a name and a confidence: how many were right, the bound and the promise."""
    order = list(Confidence)
    for (name, confidence), found in sorted(
        counts.items(), key=lambda each: (each[0][0], order.index(each[0][1]))
    ):
        total = found.total()
        bound = f"{100 * lower_bound(found[True], total):.0f} %"
        right = f"{found[True]} of {total}"
        yield name, confidence, right, bound, f"{100 * PROMISED[confidence]:.0f} %"


if __name__ == "__main__":
    situations = record_situations(int(sys.argv[1]), JUDGEMENT)
    table = markdown(build_table([judge(each) for each in situations]))
    PAGE.write_text(placed(PAGE.read_text(), "diagnosis_calibration", table))
    print(table)  # noqa: T201 - its purpose
