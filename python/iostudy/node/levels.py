"""The levels of a configuration on the devices of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from iostudy.errors import SettingError
from iostudy.settings import catalog, kinds
from iostudy.settings.change import Setting
from iostudy.settings.transaction import Transaction
from iostudy.study.model import Configuration


@dataclass
class Levels:
    """Settings below one place, changed through one transaction."""

    transaction: Transaction
    place: Path
    _bound: dict[str, tuple[Setting, ...]] = field(default_factory=dict)

    def offered(self, name: str) -> tuple[str, ...]:
        """What the setting can be here, in catalogue order."""
        here = self._settings(name)[0].offered()
        return tuple(choice for choice in catalog.get(name).choices if choice in here)

    @contextmanager
    def applied(self, configuration: Configuration) -> Iterator[Mapping[Setting, str]]:
        """The configuration's levels hold inside; given are the settings and the values wanted."""
        wanted = {
            setting: value
            for name, value in configuration.settings.items()
            for setting in self._settings(name)
        }
        with self.transaction.applied(*kinds.changes(wanted)):
            yield wanted

    def _settings(self, name: str) -> tuple[Setting, ...]:
        if name not in self._bound:
            self._bound[name] = kinds.bind(name, self.place)
        return self._bound[name]


def read_back(wanted: Mapping[Setting, str]) -> dict[str, str]:
    """The values that hold now, by label; SettingError if one is not what was wanted."""
    found = {setting: setting.read() for setting in wanted}
    for setting, value in found.items():
        if value != wanted[setting]:
            raise SettingError(
                f"{setting.label} = {wanted[setting]} for the whole trial",
                found=f"it is {value} at its end",
                where=setting.label,
                remedy="find out what changes it (TuneD, udev rules, another administrator)",
            )
    return {setting.label: value for setting, value in found.items()}
