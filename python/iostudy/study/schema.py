"""Parser of study files that reports all errors at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from iostudy.errors import UsageError
from iostudy.study.combinations import Factor, NamedConfiguration
from iostudy.study.cross_check import cross_check, factors_path
from iostudy.study.design import parse_design
from iostudy.study.factors import parse_factor
from iostudy.study.hadoop_section import hdfs_target, parse_hadoop
from iostudy.study.keys import FALLBACK_KEYS, KEYS, MAX_QUESTION, MAX_SEED, REFUSED
from iostudy.study.labels import scalar_text
from iostudy.study.load_section import parse_load
from iostudy.study.model import RootlessFallback, Study, WorkloadRequest
from iostudy.study.named_configurations import parse_named_configurations
from iostudy.study.names import UnknownNameError
from iostudy.study.privileges import needs_root_to_change
from iostudy.study.problems import Path as Way
from iostudy.study.problems import ProblemCollector, format_value
from iostudy.study.reference import require_name
from iostudy.study.requests import parse_requests
from iostudy.study.search import CONFLICTING_KEYS, DEFAULT_ONLY, Search
from iostudy.study.search_section import parse_search
from iostudy.study.sections import (
    WARM_MEMORY_NOTE,
    DecideSection,
    PrepareSection,
    TargetSection,
    TelemetrySection,
    ValiditySection,
    directory_target,
)
from iostudy.study.source import MAX_BYTES, decode, read
from iostudy.study.targets import Target
from iostudy.study.unprintable import refuse_unprintable
from iostudy.telemetry.block_requests import TRACING_COST_NOTE

_STOP, _LEAVE_OUT = REFUSED


def load(path: Path) -> Study:
    """Read a study file; StudyError with all its problems, UsageError if it cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
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
    source = read(text, where)
    collector = ProblemCollector(source, where)
    study = _study(collector, source.values, text, name)
    cross_check(collector, study)
    collector.finish()
    return study


def _study(collector: ProblemCollector, values: Mapping[str, Any], text: str, name: str) -> Study:
    """All sections, each right on its own; StudyError with the problems of all of them."""
    refuse_unprintable(collector)
    _refuse_unknown_keys(collector, (), values, KEYS)
    question = _question(collector, ("question",), values.get("question"))
    target = _target(collector, ("target",), values.get("target"))
    asked = parse_load(collector, values, parse_requests(collector, values.get("workloads")))
    factors, search = _varied(collector, (), values, asked)
    chosen = DEFAULT_ONLY if search else _chosen(collector, values, factors)
    design = parse_design(collector, values)
    decide = collector.model(("decide",), DecideSection, values.get("decide", {}))
    validity = collector.model(("validity",), ValiditySection, values.get("validity", {}))
    telemetry = collector.model(("telemetry",), TelemetrySection, values.get("telemetry", {}))
    prepare = collector.model(("prepare",), PrepareSection, values.get("prepare", {}))
    fallback = _fallback(collector, values, asked)
    seed, baseline = _seed(collector, values), _baseline(collector, values)
    bounds = _bounds(collector, values)
    reference, leave_out = _reference(collector, values), _refused(collector, values)
    cluster = parse_hadoop(collector, values.get("hadoop", {}))
    collector.finish()
    assert target is not None and decide is not None and validity is not None
    assert telemetry is not None and prepare is not None
    return Study(
        name=name,
        question=question,
        text=text,
        target=target,
        factors=factors,
        workloads=asked,
        decide=decide.decision(),
        validity=validity.validity(),
        baseline_label=baseline,
        bounds=bounds,
        chosen=chosen,
        design=design,
        seed=seed,
        fallback=fallback,
        leave_out_refused=leave_out,
        reference=reference,
        hadoop=cluster,
        search=search,
        telemetry_hz=telemetry.hz,
        block_latency=telemetry.block_latency,
        warm_memory=prepare.is_warm,
        notes=(
            *([TRACING_COST_NOTE] if telemetry.block_latency else []),
            *([WARM_MEMORY_NOTE] if prepare.is_warm else []),
        ),
    )


def _question(collector: ProblemCollector, way: Way, question: Any) -> str:
    if isinstance(question, str) and question.strip() and len(question) <= MAX_QUESTION:
        return " ".join(question.split())
    message = "a question is wanted, in a sentence; the report answers it"
    if isinstance(question, str) and len(question) > MAX_QUESTION:
        message = f"the question is too long; at most {MAX_QUESTION} characters"
    collector.add(way, message, found=format_value(question))
    return ""


def _target(collector: ProblemCollector, way: Way, value: Any) -> Target | None:
    if isinstance(value, Mapping):
        section = collector.model(way, TargetSection, value)
        if section is None:
            return None
        return collector.attempt(way, lambda _: section.target(), value)
    if str(value).strip().startswith("hdfs:"):
        return collector.attempt(way, hdfs_target, str(value))
    return collector.attempt(way, directory_target, value)


def _varied(
    collector: ProblemCollector,
    way: Way,
    section: Mapping[str, Any],
    workloads: tuple[WorkloadRequest, ...],
) -> tuple[tuple[Factor, ...], Search | None]:
    """What varies: the factors, or the parameters of a search."""
    if "search" not in section:
        return _factors(collector, (*way, "factors"), section.get("factors"), workloads), None
    for key in CONFLICTING_KEYS:
        if key in section:
            collector.add((*way, key), "it does not go together with search; leave one of them out")
    return parse_search(collector, (*way, "search"), section["search"], workloads)


def _factors(
    collector: ProblemCollector, way: Way, section: Any, workloads: tuple[WorkloadRequest, ...]
) -> tuple[Factor, ...]:
    if not isinstance(section, Mapping) or not section:
        message = "factors are a mapping of at least one name to its levels"
        collector.add(way, message, found=format_value(section))
        return ()
    models = [type(request.options) for request in workloads]
    found = [
        collector.attempt((*way, name), partial(parse_factor, str(name), models=models), levels)
        for name, levels in section.items()
    ]
    return tuple(factor for factor in found if factor is not None)


def _chosen(
    collector: ProblemCollector, values: Mapping[str, Any], factors: tuple[Factor, ...]
) -> tuple[NamedConfiguration, ...]:
    if "configurations" not in values:
        return ()
    section = values.get("factors")
    named = [str(name) for name in section] if isinstance(section, Mapping) else []
    return parse_named_configurations(collector, values["configurations"], factors, named)


def _fallback(
    collector: ProblemCollector, values: Mapping[str, Any], workloads: tuple[WorkloadRequest, ...]
) -> RootlessFallback | None:
    if "without_root" not in values:
        return None
    section = values["without_root"]
    if not isinstance(section, Mapping):
        message = "without_root is a mapping of factors or a search and, if need be, more"
        allowed = ", ".join(FALLBACK_KEYS)
        collector.add(("without_root",), message, found=format_value(section), allowed=allowed)
        return None
    _refuse_unknown_keys(collector, ("without_root",), section, FALLBACK_KEYS)
    factors, search = _varied(collector, ("without_root",), section, workloads)
    for factor in factors:
        if needs_root_to_change(factor):
            way = ("without_root", *factors_path(search), factor.name)
            collector.add(way, "this needs root; vary a workload option here")
    target = None
    if "target" in section:
        target = _target(collector, ("without_root", "target"), section["target"])
    question = None
    if "question" in section:
        question = _question(collector, ("without_root", "question"), section["question"])
    return RootlessFallback(factors, target, question, search)


def _baseline(collector: ProblemCollector, values: Mapping[str, Any]) -> str | None:
    label = values.get("baseline")
    return None if label is None else collector.attempt(("baseline",), scalar_text, label)


def _bounds(collector: ProblemCollector, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Labels of configurations, each once."""
    section = values.get("bounds", [])
    if not isinstance(section, list):
        message = "bounds are a list of labels of configurations"
        collector.add(("bounds",), message, found=format_value(section))
        return ()
    found = [
        collector.attempt(("bounds", place), scalar_text, label)
        for place, label in enumerate(section)
    ]
    return tuple(dict.fromkeys(label for label in found if label is not None))


def _reference(collector: ProblemCollector, values: Mapping[str, Any]) -> str | None:
    name = values.get("reference")
    return None if name is None else collector.attempt(("reference",), require_name, name)


def _seed(collector: ProblemCollector, values: Mapping[str, Any]) -> int | None:
    seed = values.get("seed")
    if seed is None:
        return None
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < MAX_SEED:
        collector.add(
            ("seed",), "a whole number from 0 to 2^63 - 1 is wanted", found=format_value(seed)
        )
        return None
    return int(seed)


def _refused(collector: ProblemCollector, values: Mapping[str, Any]) -> bool:
    """Whether a configuration that the host refuses is left out; otherwise it stops the study."""
    value = values.get("refused", _STOP)
    if value not in (_STOP, _LEAVE_OUT):
        error = UnknownNameError("way", format_value(value), (_STOP, _LEAVE_OUT))
        collector.note(("refused",), error, value)
    return bool(value == _LEAVE_OUT)


def _refuse_unknown_keys(
    collector: ProblemCollector, way: Way, section: Mapping[str, Any], allowed: tuple[str, ...]
) -> None:
    for key in section:
        if key not in allowed:
            collector.note((*way, key), UnknownNameError("key", str(key), allowed), key)


def _name_of(path: Path) -> str:
    """The file's name made fit for a folder's: ``My study!.yaml`` -> ``My-study``."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-.") or "study"
