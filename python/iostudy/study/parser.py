"""Parser of study files that reports all errors at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from iostudy.errors import UsageError
from iostudy.plugins import find_missing
from iostudy.safe_path import read_named
from iostudy.settings.catalog import full_name
from iostudy.study import declared_settings
from iostudy.study.combinations import Factor, NamedConfiguration, active_levels
from iostudy.study.cross_check import cross_check, factors_path
from iostudy.study.factors import OPTION_PREFIX, first_levels, parse_factor
from iostudy.study.load_section import parse_load
from iostudy.study.mode import with_recorded_mode
from iostudy.study.model import Design, RootlessFallback, Study, WorkloadRequest
from iostudy.study.names import UnknownNameError, find_duplicates, parse_label, scalar_text
from iostudy.study.privileges import needs_root_to_change
from iostudy.study.problems import KeyPath, ProblemCollector
from iostudy.study.requests import parse_requests
from iostudy.study.sections import WARM_MEMORY_NOTE
from iostudy.study.source import MAX_BYTES, decode, format_value, read
from iostudy.study.study_file import (
    CommandKey,
    DesignKey,
    ServiceKey,
    StudyFile,
    WithoutRootSection,
    keys_of,
    study_file_type,
)
from iostudy.telemetry.summary import TRACING_COST_NOTE

_NAMELESS = "study"


def load(path: Path) -> Study:
    """Read a study file; StudyError with all its problems, UsageError if it cannot be read."""
    # The name of a pipe says nothing.
    name = name_study(path.stem) if path.is_file() else _NAMELESS
    return parse(read_file(path), where=str(path), name=name)


def read_file(path: Path) -> str:
    """Return the text of a study file; StudyError or UsageError if it cannot be read."""
    try:
        content = read_named(path, MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(
            "to read a study file",
            found=str(error.strerror),
            where=str(path),
            remedy="give the path of a study file, or the name of a ready-made study",
        ) from error
    return decode(content, str(path))


def parse(text: str, *, where: str, name: str, has_windows: bool | None = None) -> Study:
    """The Study that a text asks for; ``where`` names the file in errors.

    ``has_windows`` says whether the ledger of the text has windows; None before it has a ledger.
    """
    collector = ProblemCollector(read(text, where), where)
    file = collector.open_section((), study_file_type(), collector.source.values)
    assert file is not None  # `read` gives a mapping
    declared = declared_settings.declare_files()
    declared_settings.declare(file.settings or {})
    study = _study(collector, file, text, name)
    if has_windows is not None:
        study = with_recorded_mode(study, has_windows=has_windows)
    cross_check(collector, study)
    collector.finish()
    fallback = study.fallback.factors if study.fallback else ()
    used = [factor.name for factor in (*study.factors, *fallback)]
    text = declared_settings.embed(text, collector.source, used, declared)
    return replace(study, text=text)


def _study(collector: ProblemCollector, file: StudyFile, text: str, name: str) -> Study:
    """The study without the checks across its sections; StudyError with all problems so far."""
    levels = first_levels(file.factors or {})
    requests = parse_requests(collector, file.workloads or (), levels)
    workloads = parse_load(collector, file, requests)
    factors, design = _varied(collector, (), file, workloads)
    chosen = parse_named_configurations(collector, file, factors)
    fallback = _fallback(collector, file.without_root, workloads, design)
    for section, key in keys_of(DesignKey).items():
        if key.check is not None and section in file.model_fields_set:
            key.check(collector, file)
    collector.finish()
    return Study(
        name=name,
        question=file.question,
        text=text,
        target=file.target,
        factors=factors,
        workloads=workloads,
        decide=file.decide,
        validity=file.validity,
        baseline_label=file.baseline,
        bounds=tuple(dict.fromkeys(file.bounds)),
        chosen=chosen if design is None else design.chosen or chosen,
        design=design,
        seed=file.seed,
        fallback=fallback,
        refusal=file.refused,
        reference=file.reference,
        services={name: getattr(file, name) for name in keys_of(ServiceKey)},
        telemetry=file.telemetry,
        prepare=file.prepare,
        limit=file.limit,
        command_sections={
            name: value
            for name in keys_of(CommandKey)
            if (value := getattr(file, name)) is not None
        },
        notes=(
            *([TRACING_COST_NOTE] if file.telemetry.block_latency else []),
            *([WARM_MEMORY_NOTE] if file.prepare.is_warm else []),
        ),
    )


def _varied(
    collector: ProblemCollector,
    path: KeyPath,
    section: StudyFile | WithoutRootSection,
    workloads: tuple[WorkloadRequest, ...],
) -> tuple[tuple[Factor, ...], Design | None]:
    """Return the factors, and the design that chooses the runs, if a key names one."""
    given, design = section.model_fields_set, None
    for name, key in ((n, k) for n, k in keys_of(DesignKey).items() if n in given):
        for other in (other for other in key.conflicts if other in given):
            message = f"it does not go together with {name}; leave one of them out"
            collector.add((*path, other), message)
        value = getattr(section, name)
        if key.parse is None:
            design = value
        elif value is None:
            return (), None
        else:
            return key.parse(collector, (*path, name), value, workloads)
    keys = collector.source.values["without_root"] if path else collector.source.values
    if "factors" not in given and not any(map(find_missing, map(str, keys))):
        collector.add_missing(path, type(section), ("factors",))
    return _factors(collector, (*path, "factors"), section.factors or {}, workloads), design


def _factors(
    collector: ProblemCollector,
    path: KeyPath,
    section: Mapping[Any, Any],
    workloads: tuple[WorkloadRequest, ...],
) -> tuple[Factor, ...]:
    models = [type(request.options) for request in workloads]
    parsed = [
        collector.attempt((*path, name), partial(parse_factor, str(name), models=models), levels)
        for name, levels in section.items()
        # Levels of an option cannot be read without a workload, and that problem is named already.
        if models or not str(name).startswith(OPTION_PREFIX)
    ]
    factors = tuple(factor for factor in parsed if factor is not None)
    for name in find_duplicates(factor.name for factor in factors):
        collector.add(path, "the factor occurs twice; give it once", found=name)
    return factors


def _fallback(
    collector: ProblemCollector,
    section: WithoutRootSection | None,
    workloads: tuple[WorkloadRequest, ...],
    file_design: Design | None,
) -> RootlessFallback | None:
    """Return the form without root; a design of factors holds for the factors there, too."""
    if section is None:
        return None
    factors, design = _varied(collector, ("without_root",), section, workloads)
    if design is None and factors_path(file_design) == factors_path(None):
        design = file_design
    for factor in factors:
        if needs_root_to_change(factor):
            path = ("without_root", *factors_path(design), factor.name)
            collector.add(path, "this needs root; vary a workload option here")
    return RootlessFallback(factors, section.target, section.question, design)


def name_study(stem: str) -> str:
    """Return a file's name made fit for a folder's: ``My study!`` -> ``My-study``."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-.") or _NAMELESS


KEY_PATH: KeyPath = ("configurations",)


def parse_named_configurations(
    collector: ProblemCollector, file: StudyFile, factors: Sequence[Factor]
) -> tuple[NamedConfiguration, ...]:
    """Every configuration of the section that is right; what is wrong with the others is noted.

    ``factors`` are those of the file in which nothing is wrong.
    """
    section, named = file.configurations, [full_name(str(name)) for name in file.factors or {}]
    if not section or not named:
        return ()
    offered = [factor.name for factor in factors if factor.offered]
    if offered:
        message = "it can only name levels that the file lists; list those of the factor"
        collector.add(KEY_PATH, message, found=f"{', '.join(offered)}: offered")
        return ()
    by_name = {factor.name: factor for factor in factors}
    entries = [_chosen(collector, key, entry, by_name, named) for key, entry in section.items()]
    chosen = tuple(configuration for configuration in entries if configuration is not None)
    _refuse_same(collector, chosen, factors)
    return chosen


def _chosen(
    collector: ProblemCollector,
    key: Any,
    entry: Any,
    factors: Mapping[str, Factor],
    named: Sequence[str],
) -> NamedConfiguration | None:
    path = (*KEY_PATH, key)
    label = collector.attempt(path, parse_label, key)
    if not isinstance(entry, Mapping):
        message = "a configuration is a mapping such as {factor: level}; {} has all first levels"
        collector.add(path, message, found=format_value(entry))
        return None
    levels: dict[str, str] = {}
    for name, level in entry.items():
        full = full_name(str(name))
        if full in factors:
            value = collector.attempt((*path, name), partial(_level_of, factors[full]), level)
            levels |= {} if value is None else {full: value}
        elif full not in named:
            collector.note((*path, name), UnknownNameError("factor", str(name), named), name)
    if label is None or len(levels) != len(entry):
        return None
    chosen = NamedConfiguration(label, levels)
    return None if _has_idle(collector, chosen, factors) else chosen


def _level_of(factor: Factor, value: Any) -> str:
    label, labels = scalar_text(value), [level.label for level in factor.levels]
    if label not in labels:
        raise UnknownNameError(f"level of {factor.name}", label, labels)
    return label


def _has_idle(
    collector: ProblemCollector, chosen: NamedConfiguration, factors: Mapping[str, Factor]
) -> bool:
    """Note the levels that the others exclude; whether there are any."""
    active = active_levels(chosen, tuple(factors.values()))
    idle = [name for name in chosen.levels if name not in active]
    for name in idle:
        condition = factors[name].condition
        message = f"it is only there while {condition}; give that level too, or leave this out"
        collector.add((*KEY_PATH, chosen.label, name), message, found=chosen.levels[name])
    return bool(idle)


def _refuse_same(
    collector: ProblemCollector, chosen: Sequence[NamedConfiguration], factors: Sequence[Factor]
) -> None:
    for label in find_duplicates(configuration.label for configuration in chosen):
        collector.add(
            KEY_PATH, "the label occurs twice; give each configuration its own", found=label
        )
    first: dict[frozenset[tuple[str, str]], str] = {}
    for configuration in chosen:
        label, levels = configuration.label, active_levels(configuration, factors)
        same = first.setdefault(frozenset((n, v.label) for n, v in levels.items()), label)
        if same != label:
            message = f"the same levels as {same}; to compare a level with itself, label it twice"
            collector.add((*KEY_PATH, label), message, found=label)
