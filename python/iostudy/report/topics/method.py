"""Method of a study in one paragraph, and the steps to reproduce it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iostudy import units
from iostudy.analysis.boundaries import FUTILITY
from iostudy.analysis.spending import AnalysisMethod
from iostudy.ledger.rows import StudyRow
from iostudy.ledger.studies import NODES
from iostudy.report.base import Method
from iostudy.report.formatting import (
    find_single_factor,
    format_count,
    join_words,
    name_configuration,
    quote_label,
)
from iostudy.report.topics.trials import TrialReport
from iostudy.results.comparisons import decision_rule
from iostudy.study.mode import find_mode
from iostudy.study.model import Study
from iostudy.study.plan import FORMAT_PHASE, whole_plots
from iostudy.telemetry.covariates import Covariate


def build_method(study: Study, seed: int, trials: Sequence[TrialReport]) -> Method:
    """The fixed decision rule, and the paragraph that explains it."""
    text = " ".join(_paragraph(study, seed, trials))
    return Method.copy_from(study.decide, comparisons=study.comparisons, seed=seed, text=text)


def _paragraph(study: Study, seed: int, trials: Sequence[TrialReport]) -> Iterator[str]:
    yield _describe_blocks(study, seed)
    yield from _split_plot(study, trials)
    if not study.comparisons:
        yield "The study has a single configuration: there is nothing to compare."
    else:
        yield from _decision(study)
        yield _verdicts(study)
    guards = dict.fromkeys(figure.name for w in study.workloads for figure in w.figures[1:])
    if study.comparisons and guards:
        yield (
            f"The first figure of a workload decides; {join_words(list(guards))} must not get "
            "worse. That a configuration is better in the first figure and not worse in the others "
            "is wrong only if one particular verdict of these is, so they do not share the risk "
            "(intersection-union test). A verdict on a further figure alone has a further risk of "
            "this size. The combined ranking reads first figures only."
        )
    compares = find_mode(study).compares_configurations
    if compares and (len(study.choices()) - 1) * len(study.workloads) > 1:
        yield _ranking(study)
    if trials:
        yield _validity(study)
        left_out, slow = sum(not t.counts for t in trials), sum(t.slow for t in trials)
        excepted = f"all but {left_out} count" if left_out else "all count"
        yield (
            f"Of {format_count(len(trials), 'trial')}, {excepted}; {slow or 'none'} were slow or "
            "failed."
        )


def _describe_blocks(study: Study, seed: int) -> str:
    configurations = format_count(len(study.configurations()), "configuration")
    if find_mode(study).measures_windows:
        return (
            f"Every block measures windows of each of {configurations}. One run of each workload "
            f"continues while they are switched, in rounds of random order from seed {seed}. Whole "
            "trials confirm a recommendation, and enter no verdict."
        )
    return (
        f"Every block runs a workload once under each of {configurations}, in a new random "
        f"order from seed {seed}, and applies the settings again before every run."
    )


def list_reproduction_steps(study: Study, row: StudyRow) -> tuple[str, ...]:
    """The steps that repeat the study with the same plan."""
    who = "as root" if row.root else "without root"
    run = f"Run `iostudy {study.target.command} {study.name}.yaml --seed {row.seed}` {who}."
    if NODES in row.circumstances:
        run = (
            f"Write `seed: {row.seed}` into it, and run `iostudy fleet run {study.name}.yaml "
            f"--design together` {who} on {join_words(tuple(row.circumstances[NODES]))}."
        )
    return (
        f"Install iostudy {row.iostudy_version}.",
        f"Save the study file as `{study.name}.yaml`.",
        f"Run `iostudy check {study.name}.yaml` to see the plan and the changes.",
        run,
    )


def _split_plot(study: Study, trials: Sequence[TrialReport]) -> tuple[str, ...]:
    """Describe the split plot and the error of each comparison, if file systems or places vary."""
    first, *others = whole_plots(study.configurations())
    if not first[0].whole_plot:
        return ()
    made = format_count(sum(FORMAT_PHASE in trial.phases for trial in trials), "time")
    again = f"Each file system is created again in every block; {made} in all."
    shared, plural, error = "file system", "file systems", "holds that of making them, too"
    if study.target.compared:
        again = "The data that reads need are made again in each directory in every block."
        shared, plural, error = "directory", "directories", "holds that of making the data, too"
    design = (
        f"The design is a split plot: configurations that share a {shared} run one after another, "
        f"in random order. {again}"
    )
    if find_mode(study).compares_levels:
        return (design, "The error of each effect is that of its own estimates over the blocks.")
    factor = find_single_factor(study)
    baseline, *companions = (name_configuration(choice.label, factor) for choice in first)
    sentences = [design]
    if companions:
        sentences.append(
            f"On the {shared} of {baseline} also run {join_words(companions)}: the error of these "
            "comparisons is that of runs."
        )
    if others:
        which = "others" if companions else "comparisons"
        sentences.append(f"All {which} are across two {plural}: their error {error}.")
    return tuple(sentences)


def _decision(study: Study) -> Iterator[str]:
    decide, rule = study.decide, decision_rule(study)
    comparisons = format_count(study.comparisons, "comparison")
    baseline = name_configuration(study.baseline.label, find_single_factor(study))
    compared = (
        f"A configuration is compared with {baseline} by "
        f"{'a typical' if rule.by_scores else 'the mean of'} "
        "ln(own / baseline) over their common blocks"
    )
    if study.design is not None:
        compared = study.design.describe_estimates()
    test = "Student's t"
    if rule.by_scores:
        test = "signed normal scores (before they can decide, Student's t)"
    # How the risk is shared among the analyses, by the method in the ledger.
    levels = "one level for interim analyses after every block"
    if rule.method is not AnalysisMethod.CONSTANT_LEVEL:
        looks = rule.boundaries.looks
        every = len(looks) == looks[-1] - looks[0] + 1
        when = "after every block" if every else f"at {len(looks)} numbers of blocks"
        levels = f"levels that spend the risk over interim analyses {when}"
    yield (
        f"{compared}, with {test} and {levels} from {decide.min_blocks} to {decide.max_blocks} "
        f"(repeated confidence intervals): with {comparisons}, the risk of any wrong verdict is "
        f"{units.format_percent(decide.risk)}."
    )
    if rule.continuation.stages:
        ends = [str(end) for end in rule.continuation.ends(rule.max_blocks)[1:]]
        yield (
            f"Of that, {units.format_percent(rule.continuation.reserve)} is kept for a "
            f"continuation to {join_words(ends, 'or')} blocks."
        )


def _verdicts(study: Study) -> str:
    margin, rule = units.format_percent(study.decide.margin), decision_rule(study)
    spends = rule.method is not AnalysisMethod.CONSTANT_LEVEL
    one_sided = ", by two one-sided tests" if spends else ""
    single = ", at the level of a single analysis," if spends else ""
    stopped = (
        " Futile: the rest of the blocks would add a verdict with a probability below "
        f"{units.format_percent(FUTILITY)}."
        if spends
        else ""
    )
    sides = (
        " Not worse or not better: it is shown on one side of the margin, which ends only guards "
        "of the goal."
        if rule.by_scores
        else ""
    )
    if rule.by_scores and not find_mode(study).measures_windows:
        sides += " No verdict comes before each of the two ran first in two blocks."
    other = "Student's t" if rule.by_scores else "the test of signed normal scores"
    return (
        f"Equivalent: the whole interval lies within a margin of {margin}{one_sided}. Better or "
        "worse: it excludes zero, and by at least the margin if it lies wholly beyond it."
        f"{sides} Inconclusive: none of these.{stopped} Fragile: {other}{single} gives another "
        "verdict."
    )


def _ranking(study: Study) -> str:
    pairs = f"pairs of configurations{' without bounds' if study.bounds else ''}"
    if len(study.workloads) == 1:
        return f"The ranking reads the verdicts of all {pairs}, at no additional risk."
    labels = [workload.listed_as for workload in study.workloads]
    weights = {label: study.decide.weight(label) for label in labels}
    text = join_words([f"{quote_label(label)} {weight:g}" for label, weight in weights.items()])
    shares = f"workloads have the weights {text}"
    if len(set(weights.values())) == 1:
        shares = "all workloads have equal weights"
    if any(workload.load for workload in study.workloads):
        shares += ", each one's loads in equal parts"
    return (
        f"The combined ranking reads the same verdicts of all {pairs}, over all "
        f"workloads together ({shares}), with a further risk of the same size."
    )


def _validity(study: Study) -> str:
    validity = study.validity
    exceeded = "".join(
        f"if {name} exceeds {units.format_percent(limit)} of {Covariate(name).whole}, "
        for name, limit in validity.limits.items()
    )
    kept = (
        f" No trial is invalid because of {join_words(validity.covariates, 'or')}."
        if validity.covariates
        else ""
    )
    return (
        "A trial is invalid if a setting is not read back as written, "
        f"{exceeded}if the machine was suspended, or if there was no sample for more than "
        f"{units.format_percent(validity.gap)} of its time; its block is then repeated as a "
        f"whole, up to {format_count(validity.attempts, 'attempt')}.{kept} A failed "
        "workload counts as worse than any figure."
    )
