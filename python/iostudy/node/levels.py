"""The levels of a configuration on the devices of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from iostudy.errors import SettingError
from iostudy.settings import catalog, kinds, places
from iostudy.settings.change import Setting
from iostudy.settings.definition import Reach
from iostudy.settings.transaction.transaction import Transaction
from iostudy.settings.values import AS_FOUND
from iostudy.study.combinations import Configuration, Factor, FactorKind


@dataclass
class Levels:
    """Settings below the study's own places, or where it says, changed through one transaction.

    What stands when a file system is made is none of them.
    """

    transaction: Transaction
    own: Sequence[Path]
    _bound: dict[tuple[str, tuple[str, ...]], tuple[Setting, ...]] = field(default_factory=dict)

    def offered(self, name: str, on: Sequence[str] = ()) -> tuple[str, ...]:
        """What the setting can be in all these places, in catalogue order."""
        here = [setting.offered() for setting in self.bound(name, on)]
        choices = catalog.get(name).choices
        return tuple(choice for choice in choices if all(choice in each for each in here))

    @contextmanager
    def applied(self, configuration: Configuration) -> Iterator[Mapping[Setting, str]]:
        """The configuration's levels hold inside; given are the settings with their values.

        Settings that stay as found are not written, but for what the kernel makes of them when
        others are; that is their value then. SettingError where a setting is not there.
        """
        wanted = self._wanted(configuration)
        written = {setting: value for setting, value in wanted.items() if value != AS_FOUND}
        with self.transaction.applied(*kinds.changes(written)):
            yield {s: s.read() if value == AS_FOUND else value for s, value in wanted.items()}

    def bound(self, name: str, on: Sequence[str] = ()) -> tuple[Setting, ...]:
        """The setting wherever it holds on these places; without any, below the target."""
        key = (name, tuple(on))
        if key not in self._bound:
            self._bound[key] = places.bind(name, self._places(on))
        return self._bound[key]

    def _wanted(self, configuration: Configuration) -> dict[Setting, str]:
        wanted: dict[Setting, str] = {}
        for name, value in configuration.settings.items():
            definition, on = catalog.get(name), configuration.places.get(name, ())
            if definition.reach in (Reach.DISK, Reach.CLUSTER):
                continue
            wanted |= dict.fromkeys(self.bound(name, on), value)
        return wanted

    def _places(self, on: Sequence[str]) -> Sequence[str]:
        return on or tuple(map(str, self.own))


@contextmanager
def locked(own: Sequence[Path], factors: Sequence[Factor]) -> Iterator[None]:
    """Nobody else works below these places, or on what the factors concern elsewhere, meanwhile.

    BusyError names who does.
    """
    on = places.resolved(each for factor in factors for each in factor.on)
    names = [factor.name for factor in factors if factor.kind is FactorKind.SETTING]
    with places.locked((*own, *on), map(catalog.get, names)):
        yield


def read_back(wanted: Mapping[Setting, str]) -> dict[str, str]:
    """The values that hold now, by label; SettingError if one is not what was wanted."""
    found = {setting: setting.read() for setting in wanted}
    for setting, value in found.items():
        if not setting.definition.met(wanted[setting], value):
            remedy = "find out what changes it (TuneD, udev rules, another administrator)"
            raise not_kept(setting.label, wanted[setting], value, remedy)
    return {setting.label: value for setting, value in found.items()}


def not_kept(label: str, wanted: str, found: str, remedy: str) -> SettingError:
    """That a setting is another one at the end of a trial than the trial was to have."""
    return SettingError(
        f"{label} = {wanted} for the whole trial",
        found=f"it is {found} at its end",
        where=label,
        remedy=remedy,
    )
