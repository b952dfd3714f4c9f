"""Expected levels and refusals of this host, for a check without changes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from iostudy.errors import BusyError, IostudyError, raise_together
from iostudy.folders import require_safe_directories, require_safe_target
from iostudy.node import target_devices
from iostudy.node.conditions import describe_account
from iostudy.node.free_space import require_space
from iostudy.node.levels import Levels, lock_places
from iostudy.node.targets.driver import find_driver
from iostudy.safe_path import ROOT_UID
from iostudy.settings import catalog as settings
from iostudy.settings import kinds
from iostudy.settings.definition import Reach
from iostudy.settings.definitions.filesystem import FILESYSTEM_TYPE
from iostudy.settings.scratch.filesystem import Filesystem
from iostudy.settings.scratch.new_filesystem import check_mkfs, require_tools
from iostudy.settings.trace_instance import TraceInstance, usable_tracefs
from iostudy.settings.transaction.transaction import Transaction
from iostudy.settings.values import AS_FOUND
from iostudy.settings.work_folder import WorkFolder
from iostudy.study.combinations import Configuration, Factor, FactorKind
from iostudy.study.cross_check import resolve_offered_levels
from iostudy.study.model import Study
from iostudy.study.requests import find_unmet_needs, list_directories
from iostudy.study.sections import Refusal


def with_expected_levels(study: Study) -> Study:
    """Fill in the levels that the host offers; return the study unchanged if they are unknown.

    StudyError if the levels conflict with the rest of the study.
    """
    offered = find_driver(study.target).offered_levels(study.awaiting_offer())
    return study if offered is None else resolve_offered_levels(study, offered)


def check_target(study: Study, folder: Path, *, unsafe_folders: bool) -> tuple[str, ...]:
    """Check target, settings and space without any change; return notes.

    ``folder`` is the output folder.

    Raises UnsafePathError for a directory that another user could redirect, which
    ``unsafe_folders`` waives; TargetError if the target is unusable, lacks a setting or has too
    little space;
    SettingError if a setting is missing on this host, unless the study omits refused values.
    """
    driver = find_driver(study.target)
    space = driver.free_space(study, folder)
    if space.free_bytes is not None:
        for filesystem in _filesystems(study, study.configurations()):
            require_tools(filesystem.type)
            check_mkfs(filesystem, space.free_bytes)
    spec = study.service_spec
    cluster_dirs = spec.dirs if spec else ()
    for directory in cluster_dirs:
        WorkFolder.prepare(directory)
    others = list_directories(study.workloads, study.configurations())
    require_safe_directories(cluster_dirs, insist=unsafe_folders)
    account = require_safe_target(
        (*driver.probe_paths(), *others),
        insist=unsafe_folders,
        may_be_foreign=study.target.may_be_foreign and not study.service,
    )
    for factor in study.factors:
        if factor.kind is FactorKind.SETTING and study.refusal is Refusal.STOP:
            _check_setting(study, factor)
    if not study.awaiting_offer():
        require_space(study.workloads, study.configurations(), space, spec)
    return describe_account(account)


def find_lock_warnings(study: Study) -> tuple[str, ...]:
    """Return who uses the target now, or what the factors change; empty if nobody does."""
    paths = () if study.target.is_made else find_driver(study.target).probe_paths()
    try:
        with lock_places(paths, study.factors):
            return ()
    except BusyError as error:
        return (f"{error.found}: run it with --wait 10min ({error.where})",)


def require_programs(study: Study) -> None:
    """Raise one error with every program that this host lacks for the study."""
    target, configurations = study.target.named_paths(Path()), study.known().configurations()
    unmet = find_unmet_needs(study.workloads, configurations, target)
    raise_together((*_missing_tools(study), *unmet))


def _missing_tools(study: Study) -> Iterator[IostudyError]:
    """An error for each file system that cannot be made."""
    for kind in sorted({f.type for f in _filesystems(study, study.known().configurations())}):
        try:
            require_tools(kind)
        except IostudyError as error:
            yield error


def _filesystems(study: Study, configurations: Iterable[Configuration]) -> set[Filesystem]:
    """Return every file system that the study makes; none on storage that is there."""
    if FILESYSTEM_TYPE.name not in study.target.made_levels:
        return set()
    first = Filesystem(study.target.made_levels[FILESYSTEM_TYPE.name])
    further = map(Filesystem, study.target.extra_filesystems.values())
    return {*(first.with_settings(c.settings) for c in configurations), *further}


def check_block_latency(study: Study) -> None:
    """Raise UsageError if the study traces block requests and this host cannot."""
    if not study.telemetry.block_latency:
        return
    if study.target.made_levels:
        usable_tracefs()
    else:
        names = target_devices.device_names(*find_driver(study.target).probe_paths())
        TraceInstance.prepare(target_devices.devices_with_queues(names))


def _check_setting(study: Study, factor: Factor) -> None:
    """Check the places and conditions of a factor, if they exist before the run."""
    driver, definition = find_driver(study.target), settings.get(factor.name)
    reach = definition.reach
    if reach in (Reach.DISK, Reach.CLUSTER):
        return
    if reach.needs_place and driver.creates(factor, reach):
        return
    bound = Levels(Transaction(), driver.probe_paths()).bind(factor.name, factor.on)
    if factor.condition and factor.condition.name not in {f.name for f in study.factors}:
        for setting in bound:
            setting.read()
    if reach is Reach.MOUNT and not definition.undocumented and os.geteuid() == ROOT_UID:
        # The kernel checks an option without a change. A setting that the study declares has
        # commands instead, which a check never runs.
        for level in factor.levels:
            if level.value != AS_FOUND:
                kinds.prepare_changes(dict.fromkeys(bound, level.value))
