"""Configurations with their requested and actual values (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from iostudy.ledger.rows import TrialRow
from iostudy.report.topics.verdicts.values import ConfigurationReport
from iostudy.study.model import Study

LEVEL_HEADS = ("level", "requested", "actual")


def build_configurations(study: Study, rows: Sequence[TrialRow]) -> tuple[ConfigurationReport, ...]:
    """Every configuration of the study; the baseline is the first."""
    return tuple(
        ConfigurationReport(
            label=configuration.label,
            baseline=configuration == study.baseline,
            settings=dict(configuration.settings),
            options=dict(configuration.options),
            read_back=_read_back(row for row in rows if row.configuration == configuration.label),
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


def _read_back(rows: Iterable[TrialRow]) -> dict[str, tuple[str, ...]]:
    """Return all values that trials read back, by name and place."""
    found: dict[str, tuple[str, ...]] = {}
    for row in rows:
        for label, value in (row.settings or {}).items():
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
