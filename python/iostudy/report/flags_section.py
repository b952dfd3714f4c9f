"""Flags as a section of the report: where, what, what it means for the verdict, what to do."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.analysis.series import LEVEL, Flag
from iostudy.report import wording
from iostudy.report.columns import TextTable
from iostudy.report.section import Section
from iostudy.report.values.report import Report
from iostudy.units import format_percent

_MEANINGS = {
    Flag.DRIFT: (
        "the figures rise or fall over the study, whatever the configuration. Verdicts "
        "stand, as the trials of a block share it; the figures are means of a level that "
        "moved, so do not hold them against other studies. See whether the device fills "
        "up, heats up, or had not warmed up yet."
    ),
    Flag.LIKENESS: (
        "neighbouring trials resemble each other more than by chance: something slow, as "
        "another load or the state of the device, moves them together. Verdicts stand, as "
        "the order within each block is drawn; a comparison with another study has no "
        "pairs, and does not. Quieten the machine if you can."
    ),
    Flag.DRIFTING_DIFFERENCE: (
        "the difference itself grows or shrinks from block to block. The verdict is that "
        "of these blocks on average, and need not hold afterwards. Look at the run order, "
        "and repeat the study in the state that you care for, such as full or warm."
    ),
    Flag.ALIKE_DIFFERENCES: (
        "the differences of neighbouring blocks resemble each other, so that they count "
        "for fewer than they are, and the interval is too narrow. Repeat the study with "
        "another seed and more blocks before much rests on the verdict."
    ),
    Flag.SKEW: (
        "a few blocks differ far more than the others, and to one side. With few blocks "
        "the interval then misses the true mean more often than it says. Look at these "
        "blocks in the run order, and repeat the study with more blocks at least."
    ),
    Flag.LOPSIDED: (
        "one of the two varies far more than the other. If it stalls now and then, too few "
        "stalls may have been seen yet, and with more of them the verdict may turn. Before "
        "much rests on it, repeat the study with more blocks at least, such as "
        "blocks: [20, 60]."
    ),
    Flag.IMBALANCE: (
        "steal, foreign CPU or foreign I/O was not the same under all configurations. See "
        "“Covariates” for the figures, and for what they mean for the verdict."
    ),
}

_DISTURBED = (
    "What is named with its trials came from outside the study: another process, the hypervisor or "
    "the CPU's heat was what limited them, or the machine slept. They count all the same, for no "
    "rule declared beforehand excludes them, and one that did would discard slow runs first. Where "
    "it hit one configuration more than the others, repeat the study on a quiet host."
)


def section(report: Report) -> Section | None:
    """Every flag with its place, and each kind explained once; None without any."""
    flagged, disturbed = list(_flagged(report)), list(_disturbed(report))
    rows = [*flagged, *disturbed]
    if not rows:
        return None
    raised = [flag for flag in Flag if any(str(flag) in row for row in flagged)]
    return Section(
        name="flags",
        title="What to be careful about",
        known=(
            *(f"{flag.capitalize()}: {meaning(flag)}" for flag in raised),
            *(_DISTURBED for _ in disturbed[:1]),
            _known(),
        ),
        tables=(TextTable("", ("workload", report.noun, "flag"), rows, names=2, words=1),),
    )


def _disturbed(report: Report) -> Iterator[tuple[str, str, str]]:
    for own in report.disturbed:
        trials = wording.counted(own.trials, "trial")
        yield own.workload, own.configuration, f"{own.disturbance} in {trials}: {own.sentence}"


def _flagged(report: Report) -> Iterator[tuple[str, str, str]]:
    for workload in report.workloads:
        for flag in workload.flags:
            yield workload.label, "all", str(flag)
        for result in workload.results:
            for flag in result.flags:
                yield workload.label, result.configuration, str(flag)


def _known() -> str:
    return (
        "Flags change no verdict, and nothing is left out because of them. Where the noise is "
        "clean, a study has any, but those of trials, with a chance of at most "
        f"{format_percent(LEVEL)}."
    )


def meaning(flag: Flag) -> str:
    """What a flag means for the verdict, and what to do about it."""
    return _MEANINGS[flag]
