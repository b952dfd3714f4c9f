"""The ``workloads`` section: workloads with their options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from iostudy import plugins
from iostudy.errors import IostudyError
from iostudy.safe_path import read_named
from iostudy.study.combinations import Configuration
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.names import UnknownNameError, find_duplicates, parse_label
from iostudy.study.problems import KeyPath, ProblemCollector, format_reason
from iostudy.study.source import format_value
from iostudy.units import MIB
from iostudy.workloads import catalog
from iostudy.workloads.workload import TargetPaths, Workload

_DRIVE_FILE = ".yaml"
_SYNC_LATENCY = "sync_latency_"
_WITHOUT_SYNCS = ("latency_", "write_latency_")
_LABEL, _FIGURE = _OWN_KEYS = ("label", "figure")


def parse_requests(
    collector: ProblemCollector, section: Sequence[Any], varied: Mapping[str, Any]
) -> tuple[WorkloadRequest, ...]:
    """Every workload of the list that is right; what is wrong with the others is noted.

    ``varied`` has the first level of every option among the factors. It replaces an option that
    a workload needs and its entry leaves out.

    An entry is a name, or a name with a mapping of options. Among these, ``label`` distinguishes
    two requests of one workload, and ``figure`` names the figures that verdicts use.
    """
    parsed = [
        _request(collector, ("workloads", i), entry, varied) for i, entry in enumerate(section)
    ]
    requests = tuple(request for request in parsed if request is not None)
    for label in find_duplicates(request.label for request in requests):
        message = "the workload occurs twice; give one of them a label of its own"
        collector.add(("workloads",), message, found=label)
    return requests


def _request(
    collector: ProblemCollector, path: KeyPath, entry: Any, varied: Mapping[str, Any]
) -> WorkloadRequest | None:
    match entry:
        case str(name):
            options: Any = {}
        case Mapping() if len(entry) == 1:
            name, options = next(iter(entry.items()))
            path = (*path, name)
            options = {} if options is None else options
        case _:
            message = "a workload is its name, or {name: {option: value}}"
            allowed = ", ".join(catalog.names())
            collector.add(path, message, found=format_value(entry), allowed=allowed)
            return None
    if install := plugins.find_missing(str(name)):
        collector.add(path, f"a workload of a plugin that is not installed: {install}", found=name)
        return None
    if name not in catalog.names():
        collector.note(path, UnknownNameError("workload", str(name), catalog.names()), name)
        return None
    given, options = _own_keys(options)
    label = collector.attempt((*path, _LABEL), parse_label, given.get(_LABEL, name))
    model = catalog.get(name).options
    if isinstance(options, Mapping):
        needed = {option for option, field in model.model_fields.items() if field.is_required()}
        options = {**{k: v for k, v in varied.items() if k in needed}, **options}
    valid = collector.model(path, model, options)
    if valid is None or label is None:
        return None
    wanted = given.get(_FIGURE)
    return collector.attempt(
        (*path, _FIGURE), lambda _: build_request(name, valid, label, wanted), wanted
    )


def build_request(
    name: str, options: BaseModel, label: str | None = None, figure: Any = None
) -> WorkloadRequest:
    """A workload of the catalogue; verdicts use its first figure unless one or several are named.

    UnknownNameError for a figure that it does not have with these options, and ValueError for one
    that is named twice.
    """
    figures = {entry.name: entry for entry in catalog.get(name).figures(options)}
    named = next(iter(figures)) if figure is None else figure
    chosen = list(map(str, named if isinstance(named, list) else [named]))
    for unknown in (entry for entry in chosen if entry not in figures):
        raise UnknownNameError("figure", unknown, figures)
    if not chosen or find_duplicates(chosen):
        raise ValueError("name one figure, or several different ones, of which the first decides")
    return WorkloadRequest(label or name, name, options, tuple(figures[entry] for entry in chosen))


def _own_keys(options: Any) -> tuple[dict[str, Any], Any]:
    """What an entry says of itself rather than of the workload, and the workload's options."""
    if not isinstance(options, Mapping):
        return {}, options
    common = {key: value for key, value in options.items() if key in _OWN_KEYS}
    return common, {key: value for key, value in options.items() if key not in _OWN_KEYS}


def apply_configuration(request: WorkloadRequest, configuration: Configuration) -> BaseModel:
    """The request's options with the configuration's levels in the options it has.

    Raises pydantic.ValidationError where a level does not go with the other options.
    """
    model = catalog.get(request.name).options
    varied = {k: v for k, v in configuration.options.items() if k in model.model_fields}
    return replace_options(request.options, varied) if varied else request.options


def make_workload(request: WorkloadRequest, configuration: Configuration) -> Workload:
    """Return the workload of a trial with its options; errors as of `apply_configuration`."""
    return catalog.get(request.name).make(apply_configuration(request, configuration))


def replace_options(options: BaseModel, changed: Mapping[str, str]) -> BaseModel:
    """The options with some of them changed; pydantic.ValidationError where these do not fit."""
    return type(options).model_validate({**options.model_dump(mode="json"), **changed})


def check_options(collector: ProblemCollector, path: KeyPath, study: Study) -> None:
    """Note every combination of options that a workload cannot run with, whatever the settings."""
    configurations = study.known().configurations()
    combinations = {tuple(c.options.items()): c for c in configurations}
    disks = {*study.target.extra_filesystems, *study.target.compared}
    for options, configuration in combinations.items():
        for request in study.workloads:
            refused = explain_refusal(request, configuration) or _lacks_disks(
                request, configuration, disks
            )
            if refused:
                levels = ", ".join(f"{name}={value}" for name, value in options)
                collector.add(path, f"{request.label} cannot run with {levels}: {refused}")


def explain_refusal(request: WorkloadRequest, configuration: Configuration) -> str:
    """Why the workload gives no figure for verdicts under a configuration; empty if it does."""
    try:
        options = apply_configuration(request, configuration)
    except ValidationError as error:
        return format_reason(error.errors()[0])
    names = [figure.name for figure in catalog.get(request.name).figures(options)]
    for lacking in (figure.name for figure in request.figures if figure.name not in names):
        return f"it then has no {lacking}, which verdicts use; name another figure"
    return ""


def _lacks_disks(
    request: WorkloadRequest, configuration: Configuration, disks: Iterable[str]
) -> str:
    """Return a message on requested disks that the study does not create, or ""."""
    lacking = sorted(make_workload(request, configuration).disks().difference(disks))
    if not lacking:
        return ""
    example = f"target: {{loopback: {{size: 1GiB, beside: {{{lacking[0]}: ext4}}}}}}"
    return (
        f"there is no further disk {', '.join(lacking)}; write {example}, or compare a directory "
        "of that name"
    )


def list_directories(
    requests: Sequence[WorkloadRequest], configurations: Sequence[Configuration]
) -> tuple[Path, ...]:
    """The directories that any trial of a round uses in addition to its target, each once."""
    trials = list_trials(requests, configurations)
    return tuple(dict.fromkeys(path for _, workload in trials for path in workload.directories()))


def list_trials(
    requests: Sequence[WorkloadRequest], configurations: Sequence[Configuration]
) -> Iterator[tuple[WorkloadRequest, Workload]]:
    """Each trial of a round: the request, and the workload with its options."""
    for request in requests:
        for configuration in configurations:
            yield request, make_workload(request, configuration)


def digest_files(study: Study) -> dict[str, str]:
    """Return the SHA-256 of each file that says what the study runs, by its name in the study.

    UsageError or OSError for a file that cannot be read.
    """
    models = dict.fromkeys(model for model in study.target.models if model.endswith(_DRIVE_FILE))
    contents: dict[str, set[str]] = {
        model: {read_named(Path(model), MIB).decode("latin-1")} for model in models
    }
    for _, workload in list_trials(study.workloads, study.known().configurations()):
        for name, content in workload.contents():
            contents.setdefault(name, set()).add(content)
    return {
        name: sha256("\n".join(sorted(texts)).encode(errors="surrogateescape")).hexdigest()
        for name, texts in contents.items()
    }


def find_unsynced_latencies(study: Study) -> Iterator[str]:
    """Yield a warning for each workload that decides by a latency without its syncs.

    A write that is durable only after its sync waits for both.
    """
    for request in study.workloads:
        name, named = request.figure.name, request.name_figures()
        if not name.startswith(_WITHOUT_SYNCS) or _SYNC_LATENCY in named:
            continue
        if any(trial.syncs_apart() for _, trial in list_trials([request], study.configurations())):
            sync = f"{_SYNC_LATENCY}{name.rpartition('_')[2]}"
            yield (
                f"{request.label}: {name} excludes the syncs, for which durable writes wait; name "
                f"{sync} or the iops (figure: [{sync}, iops])"
            )


def find_unmet_needs(
    requests: Sequence[WorkloadRequest],
    configurations: Sequence[Configuration],
    target: TargetPaths,
) -> Iterator[IostudyError]:
    """An error for each workload that lacks what it needs on this machine and target."""
    for request in requests:
        checked: list[BaseModel] = []
        for options in (apply_configuration(request, c) for c in configurations):
            if options not in checked:
                workload = catalog.get(request.name).make(options)
                checked.append(options)
                try:
                    workload.check()
                    workload.check_target(target)
                except IostudyError as error:
                    yield error
