"""Levels of a configuration on the devices of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from iostudy.errors import SettingError
from iostudy.settings import catalog, kinds, places
from iostudy.settings.change import Setting
from iostudy.settings.definition import Reach
from iostudy.settings.switching import Switcher
from iostudy.settings.transaction.transaction import Transaction
from iostudy.settings.values import AS_FOUND
from iostudy.study.combinations import Configuration, Factor, FactorKind


@dataclass
class Levels:
    """Settings of the target or of named places, changed through one transaction.

    Options of new file systems are not among them. ``constant`` are settings of every trial.
    """

    transaction: Transaction
    default_places: Sequence[Path]
    constant: Mapping[str, str] = field(default_factory=dict)
    _bound: dict[tuple[str, tuple[str, ...]], tuple[Setting, ...]] = field(default_factory=dict)

    def offered(self, name: str, on: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the values that all these places offer, in catalogue order."""
        offers = [setting.available_values() for setting in self.bind(name, on)]
        choices = catalog.get(name).choices
        return tuple(choice for choice in choices if all(choice in offer for offer in offers))

    @contextmanager
    def applied(self, configuration: Configuration) -> Iterator[Mapping[Setting, str]]:
        """Apply the configuration's levels inside the context; yield settings with values.

        Unchanged settings are not written. The kernel may change them with others; their value is
        read afterwards. SettingError if a setting is missing.
        """
        wanted = self._requested_values(configuration)
        with self.transaction.apply_temporarily(*kinds.prepare_changes(_written_values(wanted))):
            yield {s: s.read() if value == AS_FOUND else value for s, value in wanted.items()}

    @contextmanager
    def switched(self, configurations: Sequence[Configuration]) -> Iterator[SwitchedLevels]:
        """Apply the first configuration inside the context, and switch among all of them.

        The journal holds the values of all of them before the first write. SettingError for a
        setting that is missing or cannot be switched.
        """
        wanted = [self._requested_values(configuration) for configuration in configurations]
        changes = kinds.prepare_switching([_written_values(values) for values in wanted])
        with self.transaction.apply_temporarily(*changes):
            yield SwitchedLevels(configurations, Switcher(changes), wanted)

    def bind(self, name: str, on: Sequence[str] = ()) -> tuple[Setting, ...]:
        """Bind the setting on these places, or below the target without any."""
        key = (name, tuple(on))
        if key not in self._bound:
            self._bound[key] = places.bind(name, on or tuple(map(str, self.default_places)))
        return self._bound[key]

    def _requested_values(self, configuration: Configuration) -> dict[Setting, str]:
        wanted: dict[Setting, str] = {}
        for name, value in {**self.constant, **configuration.settings}.items():
            definition, on = catalog.get(name), configuration.places.get(name, ())
            if definition.reach in (Reach.DISK, Reach.CLUSTER):
                continue
            wanted |= dict.fromkeys(self.bind(name, on), value)
        return wanted


@dataclass(frozen=True)
class SwitchedLevels:
    """Configurations that are switched under a running workload, by their number."""

    configurations: Sequence[Configuration]
    switcher: Switcher
    wanted: Sequence[Mapping[Setting, str]]

    def read_back(self, number: int) -> dict[str, str]:
        """Read the values of the configuration in force, by label."""
        expected = self.wanted[number].items()
        return read_back({s: s.read() if value == AS_FOUND else value for s, value in expected})


def _written_values(wanted: Mapping[Setting, str]) -> dict[Setting, str]:
    return {setting: value for setting, value in wanted.items() if value != AS_FOUND}


@contextmanager
def lock_places(targets: Sequence[Path], factors: Sequence[Factor]) -> Iterator[None]:
    """Lock these places and those of the factors; BusyError names another user of one."""
    on = places.resolve_places(place for factor in factors for place in factor.on)
    names = [factor.name for factor in factors if factor.kind is FactorKind.SETTING]
    with places.lock_places((*targets, *on), map(catalog.get, names)):
        yield


def read_back(wanted: Mapping[Setting, str]) -> dict[str, str]:
    """Read the current values by label; SettingError if one differs from the expected one."""
    values = {setting: setting.read() for setting in wanted}
    for setting, value in values.items():
        if not setting.definition.matches(wanted[setting], value):
            remedy = "find out what changes it (TuneD, udev rules, another administrator)"
            raise setting_changed_error(setting.label, wanted[setting], value, remedy)
    return {setting.label: value for setting, value in values.items()}


def setting_changed_error(label: str, wanted: str, found: str, remedy: str) -> SettingError:
    """Return the error for a setting that changed during a trial."""
    return SettingError(
        f"{label} = {wanted} for the whole trial",
        found=f"it is {found} at its end",
        where=label,
        remedy=remedy,
    )
