"""Configurations with their requested and actual values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from iostudy.ledger.rows import RunRow, TrialRow
from iostudy.report.base import Value
from iostudy.study.model import Study


class ConfigurationReport(Value):
    """A configuration: one level per factor."""

    label: str
    """Label of the configuration."""
    baseline: bool
    """Whether it is the baseline."""
    settings: dict[str, str]
    """Requested values of settings of the host, by name."""
    options: dict[str, str]
    """Requested values of workload options, by name."""
    read_back: dict[str, tuple[str, ...]]
    """Actual values in its trials, by name and place of each setting; several if they varied."""


LEVEL_HEADS = ("level", "requested", "actual")


def build_configurations(
    study: Study, rows: Sequence[TrialRow], runs: Sequence[RunRow] = ()
) -> tuple[ConfigurationReport, ...]:
    """Every configuration of the study; the baseline is the first."""
    return tuple(
        ConfigurationReport(
            label=configuration.label,
            baseline=configuration == study.baseline,
            settings=dict(configuration.settings),
            options=dict(configuration.options),
            read_back=_merge_values(
                [row.settings or {} for row in rows if row.configuration == configuration.label]
                + [run.settings.get(configuration.label, {}) for run in runs]
            ),
        )
        for configuration in study.configurations()
    )


def list_levels(configuration: ConfigurationReport) -> tuple[tuple[str, str, str], ...]:
    """Return a row of HEADS for each setting and option; options are not read back."""
    settings = (
        (name, requested, _found(name, configuration))
        for name, requested in configuration.settings.items()
    )
    options = (
        (f"workload.{name}", requested, "") for name, requested in configuration.options.items()
    )
    return (*settings, *options)


def _merge_values(settings: Iterable[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return all values that trials and runs read back, by name and place."""
    found: dict[str, tuple[str, ...]] = {}
    for own in settings:
        for label, value in own.items():
            found[label] = tuple(dict.fromkeys((*found.get(label, ()), value)))
    return found


def _found(name: str, configuration: ConfigurationReport) -> str:
    """``256 (sda, sdb); 128 (sdc)``: the values of a setting, with their places if it has any."""
    places: dict[str, list[str]] = {}
    for label, values in configuration.read_back.items():
        own, _, place = label.partition("@")
        if own == name:
            places.setdefault(" or ".join(values), []).extend(filter(None, [place]))
    return "; ".join(f"{v} ({', '.join(own)})" if own else v for v, own in places.items())
