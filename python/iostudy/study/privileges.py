"""Replaces or refuses the parts of a study that need root."""

from __future__ import annotations

from collections.abc import Sequence

from iostudy.errors import UsageError
from iostudy.settings import catalog
from iostudy.settings.definition import Reach
from iostudy.settings.definitions.declared import CommandDefinition, TextFileDefinition
from iostudy.settings.definitions.limit import Bound, LimitSettingDefinition
from iostudy.settings.values import AS_FOUND
from iostudy.study.combinations import Factor, FactorKind
from iostudy.study.model import Study

_MAYBE_OWN = (CommandDefinition, TextFileDefinition)
TRACE = "trace block requests"
"""As `list_root_requirements` says it."""


def adapt_to_user(study: Study, *, root: bool) -> Study:
    """The study as this user can run it; UsageError where only root can."""
    study = study if root else study.without_root()
    needed = list_root_requirements(study)
    if needed and not root:
        raise UsageError(
            f"to {', and to '.join(needed)}",
            found="you are not root",
            where=study.name,
            remedy=f"run it as root, or {_without_root(needed)}",
        )
    return study


def _without_root(needed: Sequence[str]) -> str:
    """What to write into the file, so that it needs no root."""
    if needed == (TRACE,):
        return "leave out block_latency in telemetry"
    also = ", without block_latency" if TRACE in needed else ""
    return (
        "give the file a without_root: section whose factors are workload options, and whose "
        f"target is a directory{also}"
    )


def list_root_requirements(study: Study) -> tuple[str, ...]:
    """What of the study only root can do, as ``change vm.swappiness``."""
    if study.target.predicts:
        return ()
    changed = [factor.name for factor in study.factors if needs_root_to_change(factor)]
    needed = [f"change {', '.join(changed)}"] if changed else []
    needed += study.target.root_needs(study.describe_target())
    if study.limit.settings:
        needed.append("limit the load")
    if study.telemetry.block_latency:
        needed.append(TRACE)
    return tuple(needed)


def needs_root_to_change(factor: Factor) -> bool:
    """Whether it is a setting that is not only read, and that only root may set and restore.

    Every user may move a soft limit below the hard one: setrlimit(2). The preflight finds a level
    beyond that. A cluster is its user's own, or obeys any. A command or a text file may be the
    user's own, too.
    """
    if factor.kind is not FactorKind.SETTING:
        return False
    definition = catalog.get(factor.name)
    if isinstance(definition, LimitSettingDefinition) and definition.bound is Bound.SOFT:
        return False
    if definition.reach is Reach.CLUSTER or isinstance(definition, _MAYBE_OWN):
        return False
    return {level.value for level in factor.levels} != {AS_FOUND}
