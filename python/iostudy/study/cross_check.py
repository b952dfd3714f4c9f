"""Checks across the sections of a study that are valid on their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from iostudy import plugins
from iostudy.core import registered
from iostudy.settings.definitions import mount, volume
from iostudy.settings.definitions.filesystem import FILESYSTEM_TYPE
from iostudy.settings.definitions.sysctl import PREFIX
from iostudy.settings.sysctl_keys import RATIO_OF
from iostudy.settings.values import AS_FOUND
from iostudy.study.combinations import DIRECTORY_FACTOR, FactorKind, count_combinations
from iostudy.study.mode import find_mode, list_obstacles
from iostudy.study.model import Design, Study
from iostudy.study.names import UnknownNameError, find_duplicates
from iostudy.study.problems import KeyPath, ProblemCollector
from iostudy.study.requests import check_options
from iostudy.study.sections import DecisionMode
from iostudy.study.source import read
from iostudy.units import format_seconds, parse_seconds
from iostudy.workloads import catalog

MAX_CONFIGURATIONS = 1000
_DURATION = "duration"

_MOUNT_OPTIONS = {
    d.name: d for d in mount.DEFINITIONS if isinstance(d, mount.MountSettingDefinition)
}


def cross_check(collector: ProblemCollector, study: Study) -> None:
    """Note contradictions in the study, and in its form without root.

    What depends on levels that the host has yet to offer waits for `resolve_offered_levels`.
    """
    _check_limit(collector, study)
    _check_block_latency(collector, study)
    _check(collector, factors_path(study.design), study)
    _check_workload_names(collector, study)
    _check_services(collector, study)
    _check_mode(collector, study, "the study")
    _check_figures(collector, study)
    if study.fallback is not None:
        rootless = study.without_root()
        path = ("without_root", *factors_path(study.fallback.design))
        _check(collector, path, rootless)
        _check_mode(collector, rootless, "without root the study")
        _check_figures(collector, rootless)


def _check_services(collector: ProblemCollector, study: Study) -> None:
    """All workloads use the one service of the study."""
    needed = filter(None, (catalog.get(workload.name).service for workload in study.workloads))
    if len(names := dict.fromkeys(needed)) > 1:
        message = "a study has one service for its workloads; write a study for each"
        collector.add(("workloads",), message, found=", ".join(names))


def _check_mode(collector: ProblemCollector, study: Study, which: str) -> None:
    if study.decide.mode is not DecisionMode.SWITCHBACK or study.has_windows:
        return
    if obstacles := list_obstacles(study):
        message = f"{which} cannot switch: {'; '.join(obstacles)}; use auto or trials"
        collector.add(("decide", "mode"), message)


def _check_figures(collector: ProblemCollector, study: Study) -> None:
    """Note several figures where the others would guard nothing."""
    mode = find_mode(study)
    if mode.compares_configurations:
        return
    for request in study.workloads:
        if len(request.figures) > 1:
            message = f"{mode} decides by one figure: name one for {request.listed_as}"
            collector.add(("workloads",), message, found=request.name_figures())
            return


def factors_path(design: Design | None) -> KeyPath:
    """Return the path of the varied keys in a study file."""
    return (design or Design()).factors_path


def resolve_offered_levels(study: Study, offered: Mapping[str, tuple[str, ...]]) -> Study:
    """The study with the host's levels in the factors that wait for them, checked with them.

    StudyError with the lines of the study's text where they do not go with the rest of it.
    """
    if not study.awaiting_offer():
        return study
    filled = study.with_offered(offered)
    where = f"the study {study.name}"
    collector = ProblemCollector(read(study.text, where), where)
    for factor in filled.awaiting_offer():
        collector.add(("factors", factor.name), "the host offers no level of it")
    _check(collector, ("factors",), filled)
    collector.finish()
    return filled


def _check(collector: ProblemCollector, path: KeyPath, study: Study) -> None:
    _refuse_idle_options(collector, path, study)
    _check_conditions(collector, path, study)
    _check_hard_to_change(collector, path, study)
    _check_mount_options(collector, path, study)
    _check_directories(collector, path, study)
    for check in (ref for plugin in registered() for ref in plugin.checks):
        plugins.load(check)(collector, path, study)
    if study.design is not None and not study.design.check(collector, path, study):
        return
    count = len(study.chosen) or count_combinations(study.known().factors)
    if study.design is None and count > MAX_CONFIGURATIONS:
        message = "the factors make too many configurations; leave out levels, or split the study"
        collector.add(path, message, found=str(count), allowed=f"up to {MAX_CONFIGURATIONS}")
        return
    check_options(collector, path, study)
    _check_layouts(collector, study)
    _refuse_two_forms(collector, path, study)
    if not study.awaiting_offer():
        _check_labels(collector, path, study)


def _check_block_latency(collector: ProblemCollector, study: Study) -> None:
    """Traced and untraced runs of one file would look the same, and must not be compared."""
    if not study.telemetry.block_latency:
        return
    path = ("telemetry", "block_latency")
    if study.fallback is not None:
        message = "it needs root, and does not go together with without_root; leave one of them out"
        collector.add(path, message)
    if study.target.why_untraced:
        collector.add(path, study.target.why_untraced)


def _check_conditions(collector: ProblemCollector, path: KeyPath, study: Study) -> None:
    """A factor that hangs on another one needs a level of that to hang on, in the same place."""
    by_name = {factor.name: factor for factor in study.factors}
    for factor in study.factors:
        condition = factor.condition
        governing = by_name.get(condition.name) if condition else None
        if condition is None or governing is None:
            continue
        if governing.on != factor.on:
            message = f"it is only there while {condition}; give both the same `on`"
            collector.add((*path, factor.name), message, found=", ".join(factor.on))
        if governing.levels and not any(condition.holds(v.value) for v in governing.levels):
            message = f"it is only there while {condition}; add that level, or leave this out"
            labels = ", ".join(level.label for level in governing.levels)
            collector.add((*path, factor.name), message, found=f"{governing.name}: {labels}")


def _refuse_two_forms(collector: ProblemCollector, path: KeyPath, study: Study) -> None:
    """Two kernel parameters that clear each other may both vary, but in no configuration meet."""
    met = dict.fromkeys(
        key
        for names in _set_together(study)
        for key in RATIO_OF
        if {f"{PREFIX}{key}", f"{PREFIX}{RATIO_OF[key]}"} <= names
    )
    for key in met:
        message = (
            f"it and {RATIO_OF[key]} are one number in two forms: to write one clears the other; "
            "name the configurations to compare under `configurations:`, and give each one of "
            f"them, the other {AS_FOUND}"
        )
        collector.add((*path, f"{PREFIX}{key}"), message)


def _set_together(study: Study) -> Iterator[set[str] | frozenset[str]]:
    """Yield the settings that a configuration writes, or each run of a design."""
    if study.design is not None:
        yield study.design.set_together()
    for configuration in study.known().configurations():
        yield {name for name, value in configuration.settings.items() if value != AS_FOUND}


def _check_hard_to_change(collector: ProblemCollector, path: KeyPath, study: Study) -> None:
    """A file system is made on a disk of the study's own alone, and has what its type has."""
    varied = {factor.name for factor in study.factors}
    settings = (factor for factor in study.factors if factor.kind is FactorKind.SETTING)
    for factor in (factor for factor in settings if factor.hard_to_change):
        here, condition = (*path, factor.name), factor.condition
        further, made = study.target.extra_filesystems, study.target.made_levels
        if not made:
            message = "file systems are only made on a disk of the study's own; write target: "
            disk = "{loopback: {size: 2GiB}}, or {scratch: {device: /dev/...}}"
            collector.add(here, message + disk, found=study.target.describe())
        elif further:
            message = "file systems cannot vary where the target has further disks"
            collector.add(here, f"{message}; leave one of them out", found=", ".join(further))
        elif factor.name in volume.NAMES and volume.KIND.name not in made:
            message = "volumes are only made by the study; write target: {volume: {kind: ..."
            collector.add(here, message, found=study.target.describe())
        elif (
            condition
            and condition.name not in varied
            and not condition.holds(level := made.get(condition.name, "none"))
        ):
            message = f"it is only there while {condition}; leave it out, or choose that"
            collector.add(here, message, found=level)


def _check_mount_options(collector: ProblemCollector, path: KeyPath, study: Study) -> None:
    """The file systems that the study makes obey each option at a remount, as others do."""
    for factor in study.factors:
        definition = _MOUNT_OPTIONS.get(factor.name)
        if definition is None or definition.filesystems is None:
            continue
        if not definition.filesystems:
            message = (
                "no file system changes it at a remount; on a disk of the study's own, compare "
                f"filesystem.options: [{AS_FOUND}, {definition.attribute}=...]"
            )
            collector.add((*path, factor.name), message)
            continue
        if FILESYSTEM_TYPE.name not in study.target.made_levels or factor.on:
            continue
        made = [name for name in _filesystem_types(study) if name not in definition.filesystems]
        if made:
            message = f"only {', '.join(definition.filesystems)} have it; leave it out"
            collector.add((*path, factor.name), message, found=", ".join(made))


def _filesystem_types(study: Study) -> list[str]:
    varied = [factor for factor in study.factors if factor.name == FILESYSTEM_TYPE.name]
    levels = [level.value for factor in varied for level in factor.levels]
    made = study.target.made_levels[FILESYSTEM_TYPE.name]
    return [made if value == AS_FOUND else value for value in levels] or [made]


def _check_directories(collector: ProblemCollector, path: KeyPath, study: Study) -> None:
    """A target with several directories has the factor that varies them, and no other has it."""
    directories, here = study.target.compared, (*path, DIRECTORY_FACTOR)
    factor = next((f for f in study.factors if f.kind is FactorKind.DIRECTORY), None)
    if not directories:
        if factor is not None:
            message = "name what it compares: target: {directories: {local: /data, nfs: /mnt/nfs}}"
            collector.add(here, message, found=study.target.describe())
        return
    if factor is None and len(directories) > 1:
        names = ", ".join(directories)
        message = f"the target has several directories; vary them: {DIRECTORY_FACTOR}: [{names}]"
        collector.add(path, message)
    for level in factor.levels if factor else ():
        if level.value not in directories:
            error = UnknownNameError("directory of the target", level.value, directories)
            collector.note(here, error, level.value)


def _check_limit(collector: ProblemCollector, study: Study) -> None:
    """The limit of the load reaches every process of the workloads, and no level contradicts it."""
    if study.limit.settings and study.target.why_unlimited:
        collector.add(("limit",), study.target.why_unlimited)
    elif study.limit.settings and study.service:
        message = f"it does not reach {study.service}, which outlives a trial; leave it out"
        collector.add(("limit",), message)
    for factor in study.factors:
        if factor.name in study.limit.settings:
            message = "it is a factor and a limit of the load; leave one of them out"
            collector.add(("limit",), message, found=factor.name)
    if study.limit.duration is not None:
        _check_durations(collector, study, study.limit.duration)


def _check_durations(collector: ProblemCollector, study: Study, longest: float) -> None:
    """No workload has a longer duration than the limit of the load allows."""
    durations = (getattr(request.options, _DURATION, None) for request in study.workloads)
    options = (factor for factor in study.factors if factor.kind is FactorKind.WORKLOAD_OPTION)
    varied = (factor.levels for factor in options if factor.option == _DURATION)
    levels = (parse_seconds(level.value) for levels in varied for level in levels)
    planned = max((*(value for value in durations if value is not None), *levels), default=0.0)
    if planned > longest:
        message = f"a workload runs for {format_seconds(planned)}, longer than the limit"
        collector.add(("limit", _DURATION), message, found=format_seconds(longest))


def _check_layouts(collector: ProblemCollector, study: Study) -> None:
    """The target can be made with every configuration."""
    levels = (configuration.settings for configuration in study.known().configurations())
    for conflict in dict.fromkeys(map(study.target.find_conflict, levels)):
        if conflict is not None:
            key, message, value = conflict
            collector.add(("target", *key), message, found=value)


def _refuse_idle_options(collector: ProblemCollector, path: KeyPath, study: Study) -> None:
    """An option that no workload of the study has would make all its levels the same."""
    from_workloads = {field for w in study.workloads for field in type(w.options).model_fields}
    for factor in study.factors:
        if factor.kind is FactorKind.WORKLOAD_OPTION and factor.option not in from_workloads:
            collector.add((*path, factor.name), "no workload of this study has that option")


def _check_workload_names(collector: ProblemCollector, study: Study) -> None:
    """The weights and the goal name workloads of the study; no workload is in both lists."""
    labels = dict.fromkeys(workload.listed_as for workload in study.workloads)
    goal = study.decide.goal
    better, guards = (goal.better, goal.not_worse or ()) if goal else ((), ())
    listed: list[tuple[KeyPath, str]] = [
        *((("decide", "weights", label), label) for label in study.decide.weights),
        *((("decide", "goal", "better", index), label) for index, label in enumerate(better)),
        *((("decide", "goal", "not_worse", index), label) for index, label in enumerate(guards)),
    ]
    for path, label in listed:
        if label not in labels:
            error = UnknownNameError("workload of this study", label, labels)
            collector.note(path, error, label)
    for index, label in enumerate(guards):
        if label in better:
            message = "better includes not worse; name the workload once"
            collector.add(("decide", "goal", "not_worse", index), message, found=label)


def _check_labels(collector: ProblemCollector, path: KeyPath, study: Study) -> None:
    labels = [configuration.label for configuration in study.configurations()]
    for label in find_duplicates(labels):
        message = "two configurations have the same label; label their levels otherwise"
        collector.add(path, message, found=label)
    baseline = study.baseline_label
    if baseline is not None and baseline not in labels:
        error = UnknownNameError("configuration", baseline, labels)
        collector.note(("baseline",), error, baseline)
    others = [label for label in labels if label != study.baseline.label]
    for label in study.bounds:
        if label not in others:
            error = UnknownNameError("configuration other than the baseline", label, others)
            collector.note(("bounds",), error, label)
    if study.bounds and set(others) <= set(study.bounds):
        message = "no configuration but the baseline is left to choose from; leave one of them out"
        collector.add(("bounds",), message, found=", ".join(study.bounds))
