"""Parser of study files that reports all errors at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from iostudy.errors import UsageError
from iostudy.safe_path import read_named
from iostudy.study import declared_settings
from iostudy.study.combinations import Factor
from iostudy.study.cross_check import cross_check, factors_path
from iostudy.study.design_check import check_other_keys
from iostudy.study.factors import first_levels, parse_factor
from iostudy.study.labels import find_duplicates
from iostudy.study.load_section import parse_load
from iostudy.study.model import RootlessFallback, Study, WorkloadRequest
from iostudy.study.named_configurations import parse_named_configurations
from iostudy.study.privileges import needs_root_to_change
from iostudy.study.problems import KeyPath, ProblemCollector
from iostudy.study.requests import parse_requests
from iostudy.study.search import CONFLICTING_KEYS, DEFAULT_ONLY, Search
from iostudy.study.search_section import parse_search
from iostudy.study.sections import WARM_MEMORY_NOTE
from iostudy.study.source import MAX_BYTES, decode, read
from iostudy.study.study_file import LEAVE_OUT, StudyFile, WithoutRootSection
from iostudy.telemetry.block_requests import TRACING_COST_NOTE


def load(path: Path) -> Study:
    """Read a study file; StudyError with all its problems, UsageError if it cannot be read."""
    try:
        content = read_named(path, MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(
            "to read a study file",
            found=str(error.strerror),
            where=str(path),
            remedy="give the path of a study file, or the name of a ready-made study",
        ) from error
    return parse(decode(content, str(path)), where=str(path), name=_name_of(path))


def parse(text: str, *, where: str, name: str) -> Study:
    """The Study that a text asks for; ``where`` names the file in errors."""
    collector = ProblemCollector(read(text, where), where)
    file = collector.open_section((), StudyFile, collector.source.values)
    assert file is not None  # `read` gives a mapping
    declared = declared_settings.declare_files()
    declared_settings.declare(file.settings or {})
    study = _study(collector, file, text, name)
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
    factors, search = _varied(collector, (), file, workloads)
    chosen = parse_named_configurations(collector, file, factors)
    fallback = _fallback(collector, file.without_root, workloads)
    check_other_keys(collector, file)
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
        chosen=DEFAULT_ONLY if search else chosen,
        design=file.design,
        seed=file.seed,
        fallback=fallback,
        leave_out_refused=file.refused == LEAVE_OUT,
        reference=file.reference,
        hadoop=file.hadoop,
        search=search,
        telemetry=file.telemetry,
        prepare=file.prepare,
        limit=file.limit,
        nodes=file.nodes,
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
) -> tuple[tuple[Factor, ...], Search | None]:
    """What varies: the factors, or the parameters of a search."""
    given = section.model_fields_set
    if "search" not in given:
        if "factors" not in given:
            collector.add_missing(path, type(section), ("factors",))
        return _factors(collector, (*path, "factors"), section.factors or {}, workloads), None
    for key in CONFLICTING_KEYS:
        if key in given:
            collector.add(
                (*path, key), "it does not go together with search; leave one of them out"
            )
    if section.search is None:
        return (), None
    return parse_search(collector, (*path, "search"), section.search, workloads)


def _factors(
    collector: ProblemCollector,
    path: KeyPath,
    section: Mapping[Any, Any],
    workloads: tuple[WorkloadRequest, ...],
) -> tuple[Factor, ...]:
    models = [type(request.options) for request in workloads]
    found = [
        collector.attempt((*path, name), partial(parse_factor, str(name), models=models), levels)
        for name, levels in section.items()
    ]
    factors = tuple(factor for factor in found if factor is not None)
    for name in find_duplicates(factor.name for factor in factors):
        collector.add(path, "the factor occurs twice; give it once", found=name)
    return factors


def _fallback(
    collector: ProblemCollector,
    section: WithoutRootSection | None,
    workloads: tuple[WorkloadRequest, ...],
) -> RootlessFallback | None:
    if section is None:
        return None
    factors, search = _varied(collector, ("without_root",), section, workloads)
    for factor in factors:
        if needs_root_to_change(factor):
            path = ("without_root", *factors_path(search), factor.name)
            collector.add(path, "this needs root; vary a workload option here")
    return RootlessFallback(factors, section.target, section.question, search)


def _name_of(path: Path) -> str:
    """The file's name made fit for a folder's: ``My study!.yaml`` -> ``My-study``.

    That of a pipe says nothing.
    """
    if not path.is_file():
        return "study"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-.") or "study"
