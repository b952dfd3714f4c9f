"""The ``workloads`` section: which workloads with which options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from iostudy.study.collector import Collector, Path, reason, shown
from iostudy.study.labels import parse_label, repeated
from iostudy.study.model import Configuration, Study, WorkloadRequest
from iostudy.study.names import UnknownNameError
from iostudy.workloads import catalog


def parse_requests(collector: Collector, section: Any) -> tuple[WorkloadRequest, ...]:
    """Every workload of the list that is right; what is wrong with the others is noted.

    An entry is a name, or a name with a mapping of options; ``label`` among them tells two
    requests of one workload apart.
    """
    if not isinstance(section, list) or not section:
        message = "workloads are a list of at least one, such as [dfsio-write, dfsio-read]"
        collector.add(("workloads",), message, found=shown(section), allowed=_allowed())
        return ()
    found = [_request(collector, ("workloads", i), entry) for i, entry in enumerate(section)]
    requests = tuple(request for request in found if request is not None)
    _refuse_same_labels(collector, requests)
    return requests


def _request(collector: Collector, path: Path, entry: Any) -> WorkloadRequest | None:
    match entry:
        case str(name):
            options: Any = {}
        case Mapping() if len(entry) == 1:
            name, options = next(iter(entry.items()))
            path = (*path, name)
            options = {} if options is None else options
        case _:
            message = "a workload is its name, or {name: {option: value}}"
            collector.add(path, message, found=shown(entry), allowed=_allowed())
            return None
    if name not in catalog.names():
        collector.note(path, UnknownNameError("workload", str(name), catalog.names()), name)
        return None
    label: str | None = name
    if isinstance(options, Mapping) and "label" in options:
        label = collector.attempt((*path, "label"), parse_label, options["label"])
        options = {key: value for key, value in options.items() if key != "label"}
    valid = collector.model(path, catalog.get(name).options, options)
    return None if valid is None or label is None else WorkloadRequest(label, name, valid)


def _refuse_same_labels(collector: Collector, requests: tuple[WorkloadRequest, ...]) -> None:
    for label in repeated(request.label for request in requests):
        message = "the workload stands twice; give one of them a label of its own"
        collector.add(("workloads",), message, found=label)


def configured(request: WorkloadRequest, configuration: Configuration) -> BaseModel:
    """The request's options with the configuration's levels in the options it has.

    Raises pydantic.ValidationError where a level does not go with the other options.
    """
    model = catalog.get(request.name).options
    varied = {k: v for k, v in configuration.options.items() if k in model.model_fields}
    if not varied:
        return request.options
    return model.model_validate({**request.options.model_dump(), **varied})


def check_options(collector: Collector, path: Path, study: Study) -> None:
    """Note every combination of options that a workload cannot run with, whatever the settings."""
    configurations = study.known().configurations()
    combinations = {tuple(c.options.items()): c for c in configurations}
    for options, configuration in combinations.items():
        for request in study.workloads:
            try:
                configured(request, configuration)
            except ValidationError as error:
                levels = ", ".join(f"{name}={value}" for name, value in options)
                message = f"{request.label} cannot run with {levels}"
                collector.add(path, f"{message}: {reason(error.errors()[0])}")


def space_bytes(
    requests: Sequence[WorkloadRequest], configurations: Sequence[Configuration]
) -> tuple[int, ...]:
    """The room that the files of each trial of a round take."""
    return tuple(
        catalog.get(request.name).make(configured(request, configuration)).space_bytes()
        for request in requests
        for configuration in configurations
    )


def _allowed() -> str:
    return ", ".join(catalog.names())
