"""Errors of the simulator under the configurations of a simulated study."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import FiniteFloat

from iostudy.ledger.rows import TrialRow
from iostudy.report.base import UnderConfiguration
from iostudy.report.plugin_topics import Topic, TopicValue
from iostudy.report.section import Section, make_table
from iostudy.settings.definitions.queue import SCHEDULER
from iostudy.settings.values import AS_FOUND
from iostudy.study.model import Study
from iostudy.units import format_percent
from iostudy_lab.lateness import describe_lateness
from iostudy_lab.study.check import DEFAULT_SCHEDULER
from iostudy_lab.study.target import SimulatedTarget
from iostudy_lab.study.validation import load_validation

PREDICTED = "Predicted"
EXPLANATION = (
    "These figures are predictions: threads, page cache, scheduler and drive were simulated, and "
    "no host was measured. Verdicts and intervals concern the model. The error at each figure is "
    "the largest that a comparison with a kernel has shown for that scheduler and drive "
    "(docs/simulator.md)."
)


class PredictionErrorReport(UnderConfiguration):
    """Largest errors of the simulator for one configuration's scheduler on the drive.

    They are null if scheduler and drive were not compared with a kernel.
    """

    scheduler: str
    """The scheduler of the configuration."""
    workloads: int
    """Workloads that were compared with a kernel; 0 if none was."""
    rate: FiniteFloat | None
    """Largest error of the throughput without its sign, as a fraction."""
    p99: FiniteFloat | None
    """Largest error of the 99th percentile of read latencies without its sign, as a fraction."""
    order: FiniteFloat | None
    """Smallest agreement of the order of requests, as a fraction."""


class PredictionReport(TopicValue):
    """Errors of the simulator, measured against a kernel."""

    drive: str
    """The drive of the study."""
    kernel: str
    """The kernel of the comparison."""
    date: str
    """Date of the comparison."""
    command: str
    """Command of the comparison."""
    circumstances: str
    """Machine of the comparison."""
    signs_decided: int
    """Differences above 10 % that the kernel decided."""
    signs_right: int
    """The decided differences of which the simulator predicted the sign."""
    errors: tuple[PredictionErrorReport, ...]
    """Errors by configuration."""

    def qualify_headline(self, text: str) -> str:
        """Return the first sentence as a prediction."""
        return f"{PREDICTED}: {text}"

    def explain(self) -> str:
        """Explain what was simulated."""
        return EXPLANATION

    def describe_error(self, configuration: str) -> str:
        """Return the largest error of the simulator under the configuration's scheduler."""
        rates = {error.configuration: error.rate for error in self.errors}
        return format_error(rates[configuration]) if configuration in rates else ""

    def build_section(self, *, factor: str, risk: float, several: bool) -> Section:
        """Return the errors by configuration, and where they come from."""
        return _build_section(self)


NOT_VALIDATED = "not validated"


def format_error(error: float | None) -> str:
    """Return the largest error: ``error up to 4.2 %``."""
    return NOT_VALIDATED if error is None else f"error up to {format_percent(round(error, 3))}"


def build_prediction(study: Study, _: Sequence[TrialRow] = ()) -> PredictionReport | None:
    """Return the errors of this version's simulator; None for a measured study."""
    if not isinstance(study.target, SimulatedTarget):
        return None
    validation, drive = load_validation(), study.target.model
    errors = []
    for configuration in study.configurations():
        level = configuration.settings.get(SCHEDULER.name, AS_FOUND)
        scheduler = DEFAULT_SCHEDULER if level == AS_FOUND else level
        # A comparison with one drive is no evidence for a volume over several.
        rows = () if study.target.layout else validation.find(drive, scheduler)
        error = PredictionErrorReport(
            configuration=configuration.label,
            scheduler=scheduler,
            workloads=len(rows),
            rate=max((abs(row.rate_error) for row in rows), default=None),
            p99=max((abs(row.p99_error) for row in rows), default=None),
            order=min((row.order for row in rows), default=None),
        )
        errors.append(error)
    return PredictionReport.copy_from(validation, drive=drive, errors=errors)


def _build_section(prediction: PredictionReport) -> Section:
    notes = [
        (
            f"Largest differences from Linux {prediction.kernel} over the workloads of "
            f"`{prediction.command}`, run on {prediction.date} ({prediction.circumstances}). "
            "Other workloads can have larger ones."
        ),
        (
            f"Of {prediction.signs_decided} differences above 10 % that the kernel decided, the "
            f"simulator predicted the sign of {prediction.signs_right}."
        ),
    ]
    if any(not error.workloads for error in prediction.errors):
        notes.append(
            f"{NOT_VALIDATED}: no kernel was compared under this scheduler on this drive or volume."
        )
    table = make_table(
        (
            {
                "configuration": error.configuration,
                "scheduler": error.scheduler,
                "throughput": format_error(error.rate),
                "99th percentile": format_error(error.p99),
                "same order": NOT_VALIDATED
                if error.order is None
                else format_percent(round(error.order, 3)),
            }
            for error in prediction.errors
        ),
        names=2,
    )
    return Section("prediction", "Errors of the simulator", tuple(notes), tables=(table,))


TOPIC = Topic(
    PredictionReport,
    "Errors of the simulator, if the study is simulated; null for a measured study.",
    build_prediction,
    describe_lateness,
)
