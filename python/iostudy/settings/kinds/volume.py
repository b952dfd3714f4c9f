"""Layout of volumes, which studies vary on disks of their own; an existing volume keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from iostudy.errors import SettingError
from iostudy.settings.change import Change, SettingKind
from iostudy.settings.definitions.volume import VolumeSettingDefinition


@dataclass(frozen=True)
class VolumeSetting:
    """A property of the volume at a place."""

    definition: VolumeSettingDefinition
    place: str

    @property
    def label(self) -> str:
        return f"{self.definition.name}@{self.place}"

    def read(self) -> str:
        """SettingError: doctor shows the layout of an existing volume."""
        self.refuse("to read")

    def available_values(self) -> tuple[str, ...]:
        return self.definition.choices

    def refuse(self, wanted: str) -> NoReturn:
        """SettingError with the way to vary the layout."""
        raise SettingError(
            f"{wanted} {self.label}",
            found="the layout is fixed when a volume is made; another one would destroy its data",
            where=self.place,
            remedy="see `iostudy doctor` for existing volumes; vary it in a study with "
            "target: {volume: {kind: lvm-raid10, devices: ...}}",
        )


def bind(definition: VolumeSettingDefinition, place: str) -> tuple[VolumeSetting, ...]:
    """Return the setting at the place."""
    return (VolumeSetting(definition, place),)


def changes(wanted: Mapping[VolumeSetting, str]) -> tuple[Change, ...]:
    """Return no change; SettingError if one is requested."""
    for setting in wanted:
        setting.refuse("to change")
    return ()


KIND = SettingKind(VolumeSettingDefinition, bind, changes)
