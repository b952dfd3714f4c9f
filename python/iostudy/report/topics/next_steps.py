"""Next steps from the verdicts: persist the winner, measure more, or change nothing."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from iostudy.analysis.verdict import Verdict
from iostudy.ledger.rows import StudyRow
from iostudy.ledger.studies import NODES
from iostudy.report.base import Step
from iostudy.report.formatting import (
    SELF_NAMED,
    find_single_factor,
    format_blocks_needed,
    format_count,
    is_feasible_extension,
    name_configuration,
)
from iostudy.results.comparisons import (
    ComparisonResult,
    describe_failed_side,
    exclude_bounds,
)
from iostudy.results.continuation import ContinuationEstimate
from iostudy.results.recommendation import is_undecided, recommend
from iostudy.settings import catalog
from iostudy.settings.definition import Cost
from iostudy.settings.definitions.filesystem import FILESYSTEM_TYPE
from iostudy.settings.scratch.filesystem import PREFIX, Filesystem
from iostudy.settings.values import AS_FOUND
from iostudy.study import library
from iostudy.study.combinations import Configuration
from iostudy.study.factors import OPTION_PREFIX
from iostudy.study.mode import find_mode
from iostudy.study.model import Study
from iostudy.units import format_exact_seconds, format_percent, format_seconds

_MEASURE = Step(
    text="Measure the levels that your kernel has on your own storage, with `iostudy run`: a "
    "prediction is no reason to change a host."
)


def suggest_next_steps(
    study: Study,
    row: StudyRow,
    compared: Sequence[ComparisonResult],
    folder: str,
    continuation: ContinuationEstimate | None,
) -> tuple[Step, ...]:
    """One step after the other; ``folder`` is the output folder of the study.

    ``continuation`` are the blocks that would probably decide the rest, if the study can be
    continued so far.
    """
    if not compared:
        return (
            Step(
                text="Add a second level of a factor to the study file: a single configuration"
                " has nothing to compare with."
            ),
        )
    if failed := describe_failed_side(compared):
        return (Step(text=f"See why {failed}: run it by hand, or read its trials in the report."),)
    file = library.command_argument(study.name, row.text)
    of_nodes = NODES in row.circumstances
    if any(is_undecided(study, result) for result in exclude_bounds(compared)):
        text = "Resume until every comparison has a verdict"
        if of_nodes:
            return (_suggest_resume_on_nodes(text, file, folder),)
        return (suggest_resume(text, study, folder),)
    label = recommend(study, compared)
    if study.target.predicts:
        return (_MEASURE,)
    if label is not None and find_mode(study).compares_levels:
        confirm = "Run the confirmation printed with the effects: it measures the predicted best."
        return (Step(text=confirm),)
    if label is not None:
        own = next(c for c in study.configurations() if c.label == label)
        return tuple(_keep_on_nodes(own) if of_nodes else _keep(study, own, folder))
    others = exclude_bounds(compared)
    steps = _without_winner(study, others, folder, of_nodes=of_nodes)
    if all(result.comparison.verdict.is_final for result in others):
        return tuple(steps)
    if continuation is None:
        return (*steps, _more(study, others))
    return (_continue(continuation, study, folder), *steps)


def suggest_resume(text: str, study: Study, folder: str) -> Step:
    """Return the step that resumes the study of an output folder."""
    command = ["iostudy", study.target.command, folder, "--resume"]
    return Step(text=f"{text}:", command=shlex.join(command))


def _suggest_resume_on_nodes(text: str, file: str, folder: str) -> Step:
    command = ["iostudy", "fleet", "run", file, "--design", "together", "--resume"]
    return Step(
        text=f"{text}, with the options that name the nodes:",
        command=shlex.join([*command, "--out", folder]),
    )


def _keep_on_nodes(winner: Configuration) -> Iterator[Step]:
    """Return a step for each setting and option: `persist` knows the places of one host only."""
    for name, value in winner.settings.items():
        if value != AS_FOUND:
            yield Step(text=f"Set {name} to {value} on every node, with your own tools.")
    for name, value in winner.options.items():
        yield Step(text=f"Set {name} to {value} in your own programs: it is not a host setting.")


def _keep(study: Study, winner: Configuration, folder: str) -> Iterator[Step]:
    """Return the step that keeps the winner's host settings, and lists the rest."""
    varied = {name: value for name, value in winner.settings.items() if value != AS_FOUND}
    made = [name for name in varied if catalog.get(name).cost is Cost.FORMAT]
    kept = [name for name in varied if name not in made]
    if any(name.startswith(PREFIX) for name in made) and study.target.made_levels:
        make = (
            Filesystem(study.target.made_levels[FILESYSTEM_TYPE.name])
            .with_settings(varied)
            .command()
        )
        device = str(study.target.named_paths(Path()).device or "DEVICE")
        yield Step(
            text=f"Make the file system anew, which destroys all data on {device}; no file keeps "
            "its options:",
            command=shlex.join((*make, device)),
        )
    for name in made:
        if not name.startswith(PREFIX):
            yield Step(text=f"Make it anew with {name} = {varied[name]}: no file keeps it.")
    if kept:
        command = ["iostudy", "persist", folder]
        if study.target.is_made and any(map(_needs_place, kept)):
            command += ["--on", "DISK", "--install"]
            yield Step(
                text="The study ran on a loop device. Keep the winner on another disk or mount "
                f"point, as root: {shlex.join(command)}"
            )
        else:
            install = shlex.join([*command, "--install"])
            yield Step(text="Show what would be persisted, and where:", command=shlex.join(command))
            yield Step(text="Persist it, as root:", command=install)
    for name, value in winner.options.items():
        if study.baseline.options.get(name) == value:
            continue
        if f"{OPTION_PREFIX}{name}" in SELF_NAMED:
            yield Step(text=f"Use {winner.label}.")
            continue
        yield Step(text=f"Set {name} to {value} in your own programs: it is not a host setting.")


def _needs_place(name: str) -> bool:
    return catalog.get(name).reach.needs_place


def _without_winner(
    study: Study, compared: Sequence[ComparisonResult], folder: str, *, of_nodes: bool
) -> Iterator[Step]:
    verdicts = {result.comparison.verdict for result in compared}
    if find_mode(study).compares_levels:
        yield Step(text="Keep the first levels: no other level was shown to be better.")
    elif Verdict.BETTER in verdicts and of_nodes:
        yield Step(
            text="Choose by the most important workload, and set a configuration that is better "
            "there on every node."
        )
    elif Verdict.BETTER in verdicts:
        command = shlex.join(["iostudy", "persist", folder, "--configuration", "LABEL"])
        yield Step(
            text="Choose by the most important workload, and persist a configuration that is "
            "better there:",
            command=command,
        )
    else:
        baseline = name_configuration(study.baseline.label, find_single_factor(study))
        yield Step(text=f"Keep {baseline}: nothing was shown to be better.")


def _continue(found: ContinuationEstimate, study: Study, folder: str) -> Step:
    """Return the step that continues a finished study, with the time until its verdicts."""
    command = ["iostudy", study.target.command, folder, "--resume", "--more"]
    time = format_seconds(found.seconds)
    return Step(
        text=f"Continue the study: {format_count(found.blocks, 'further block')} will probably "
        f"decide the rest, in about {time}. Its risk stays "
        f"{format_percent(study.decide.risk)}, wherever you stop:",
        command=shlex.join([*command, f"{found.blocks}blocks"]),
    )


def _more(study: Study, compared: Sequence[ComparisonResult]) -> Step:
    """More blocks where these are few enough, else longer runs or a wider margin."""
    needed = [s.comparison.blocks_needed for s in compared if not s.comparison.verdict.is_final]
    known = [number for number in needed if number is not None]
    if (
        known
        and len(known) == len(needed)
        and is_feasible_extension(max(known), study.decide.max_blocks)
    ):
        return Step(
            text=f"To decide the rest, run a new study with {_extend(study, max(known))} "
            "(this one has spent its risk)."
        )
    why = ""
    if known:
        why = f" ({format_blocks_needed(max(known), more='more than ')} blocks would be needed)"
    return Step(
        text=f"More blocks alone are unlikely to decide the rest{why}: run a new study with "
        "longer runs or a wider margin."
    )


def _extend(study: Study, blocks: int) -> str:
    """Return the decision rule with so many blocks: windows have a time, trials a number."""
    decide = study.decide
    if find_mode(study).measures_windows:
        seconds = math.ceil(decide.time * blocks / decide.max_blocks)
        return f"decide: {{time: {format_exact_seconds(seconds)}}}"
    return f"decide: {{blocks: [{decide.min_blocks}, {blocks}]}}"
