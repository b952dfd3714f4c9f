"""Settings of a Hadoop cluster, which a study passes to its cluster and jobs.

The host has no value to read or to change, see `iostudy_hadoop.protocol`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Never

from iostudy.errors import TargetError
from iostudy.settings.change import Change, Setting, SettingKind
from iostudy_hadoop.properties.definition import HadoopDefinition


def bind(definition: HadoopDefinition, place: str) -> tuple[Never, ...]:
    """TargetError: the cluster of a study has it, and no place on the host."""
    raise TargetError(
        f"{definition.name} on this host",
        found=f"it is a setting of {definition.reach}",
        where=place,
        remedy="vary it in a study with workloads of Hadoop's",
    )


def changes(wanted: Mapping[Setting, str]) -> tuple[Change, ...]:
    """Return no change, because no setting was bound."""
    assert not wanted, "no setting of this kind is bound to the host"
    return ()


KIND = SettingKind(HadoopDefinition, bind, changes)
