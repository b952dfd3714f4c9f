"""Report section on flags and disturbances, with their meaning for verdicts."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.analysis.series import LEVEL, Flag
from iostudy.report.formatting import format_count
from iostudy.report.section import Section
from iostudy.report.text_table import TextTable
from iostudy.report.topics.verdicts.figure_verdicts import list_verdicts
from iostudy.report.topics.verdicts.values import SlowNoiseReport
from iostudy.report.values import Report
from iostudy.units import format_percent

_MEANINGS = {
    Flag.DRIFT: (
        "the figures rise or fall over the study under all configurations. Verdicts hold if all "
        "feel the drift equally, because the trials of a block share it. The means are those of a "
        "moving level: do not compare them with other studies. Check whether the device fills up, "
        "heats up, or was still warming up."
    ),
    Flag.AUTOCORRELATION: (
        "neighbouring trials are correlated, for example through another load or the state of the "
        "device. Verdicts hold if all configurations feel this slow noise equally. Otherwise they "
        "hold for the time of the study. Reduce the load of the host if possible. Or repeat the "
        "study in six or more sessions at other hours, each with its own --out, and pool them: "
        "iostudy fleet report DIR..."
    ),
    Flag.DRIFTING_DIFFERENCE: (
        "the difference grows or shrinks from block to block. The verdict is the average over "
        "these blocks, and may not hold afterwards. Check the run order, and repeat the study in "
        "the state of interest, such as full or warm."
    ),
    Flag.AUTOCORRELATED_DIFFERENCES: (
        "the differences of neighbouring blocks are correlated. The effective number of blocks is "
        "smaller, and the interval is too narrow. Before relying on the verdict, repeat the study "
        "in six or more sessions at other hours, each with its own --out, and pool them: "
        "iostudy fleet report DIR..."
    ),
    Flag.SKEWED_DIFFERENCES: (
        "a few blocks differ far more than the others, in one direction. With few blocks, the "
        "coverage of the interval is then below its level. Check these blocks in the run order, "
        "and repeat the study with more blocks."
    ),
    Flag.UNEQUAL_VARIANCES: (
        "the variance of one configuration is far higher than that of the other. It may stall "
        "rarely, and more stalls may change the verdict. Repeat the study with more blocks before "
        "relying on it, such as blocks: [20, 60]."
    ),
    Flag.RATE_LIMIT: (
        "this configuration, the baseline or both ran at the limit of the load in most trials. "
        "“Equivalent” then says only that both reach the limit. Without it a difference can be "
        "larger. Repeat the study with a higher limit, or compare latencies at this load."
    ),
    Flag.IMBALANCE: (
        "steal, foreign CPU or foreign I/O differed between configurations. See “Covariates” for "
        "the figures and their meaning for the verdict."
    ),
}

_DISTURBED = (
    "Disturbances came from outside the study: another process, the hypervisor or CPU heat limited "
    "these trials, or the machine was suspended. The trials still count, because no predeclared "
    "rule excludes them, and such a rule would discard slow runs first. If one configuration was "
    "disturbed more than the others, repeat the study on an idle host."
)


def build_caveats_section(report: Report) -> Section | None:
    """Every flag with its place, and each kind explained once; None without any."""
    flagged, disturbed = list(_flagged(report)), list(_disturbed(report))
    rows = [*flagged, *disturbed]
    if not rows:
        return None
    raised = [flag for flag in Flag if any(str(flag) in row for row in flagged)]
    return Section(
        name="flags",
        title="Caveats",
        notes=(
            *(f"{flag.capitalize()}: {explain_flag(flag)}" for flag in raised),
            *(_DISTURBED for _ in disturbed[:1]),
            _known(),
        ),
        tables=(TextTable("", ("workload", report.noun, "flag"), rows, names=2, words=1),),
    )


def _disturbed(report: Report) -> Iterator[tuple[str, str, str]]:
    for own in report.disturbed:
        trials = format_count(own.trials, "trial")
        yield own.workload, own.configuration, f"{own.disturbance} in {trials}: {own.sentence}"


def _flagged(report: Report) -> Iterator[tuple[str, str, str]]:
    for workload in report.workloads:
        for flag in workload.flags:
            yield workload.label, "all", str(flag)
        slow = not {Flag.DRIFT, Flag.AUTOCORRELATION}.isdisjoint(workload.flags)
        for verdicts in list_verdicts([workload]):
            name = f"{workload.label}, {verdicts.figure.name}"
            where = name if verdicts.is_guard else workload.label
            for result in verdicts.results:
                if slow and result.slow_noise:
                    yield where, result.configuration, _feels(result.slow_noise)
                for flag in result.flags:
                    yield where, result.configuration, str(flag)


def _feels(slow_noise: SlowNoiseReport) -> str:
    """Say how strongly a configuration feels slow noise."""
    low, *others = slow_noise.low, slow_noise.ratio, slow_noise.high
    ratio, high = ("∞" if each is None else f"{each:.2f}" for each in others)
    return f"feels slow noise {ratio} [{low:.2f}, {high}] times as strongly as the baseline"


def _known() -> str:
    return (
        "Flags change no verdict and exclude no data. With independent normal noise, a study "
        "raises "
        f"any flag of its tests with a probability of at most {format_percent(LEVEL)}."
    )


def explain_flag(flag: Flag) -> str:
    """Explain a flag, its meaning for the verdict, and the next step."""
    return _MEANINGS[flag]
