"""Configurations with their requested and actual values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from iostudy.ledger.rows import RunRow, TrialRow
from iostudy.report.base import Value
from iostudy.report.section import Section, TextTable
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


def build_configurations(
    study: Study, rows: Sequence[TrialRow], runs: Sequence[RunRow] = ()
) -> Iterator[ConfigurationReport]:
    """Yield every configuration of the study; the baseline is the first."""
    settings: dict[str, list[Mapping[str, str]]] = {}
    for trial in rows:
        settings.setdefault(trial.configuration, []).append(trial.settings or {})
    for configuration in study.configurations():
        actual: dict[str, tuple[str, ...]] = {}
        label = configuration.label
        for values in (*settings.get(label, ()), *(run.settings.get(label, {}) for run in runs)):
            for name, value in values.items():
                actual[name] = tuple(dict.fromkeys((*actual.get(name, ()), value)))
        yield ConfigurationReport.copy_from(
            configuration, baseline=configuration == study.baseline, read_back=actual
        )


def build_configurations_section(
    configurations: Sequence[ConfigurationReport], noun: str
) -> Section | None:
    """Requested and actual values; None without a varied setting or option."""
    heads = (noun, "level", "requested", "actual")
    rows = [(choice.label, *row) for choice in configurations for row in list_levels(choice)]
    note = "Actual values were read back during the trials. as-found is not written."
    table = TextTable("requested and actual values", heads, rows, names=2, words=2)
    return Section("configurations", "Configurations", (note,), folded=(table,)) if rows else None


def list_levels(configuration: ConfigurationReport) -> Iterator[tuple[str, str, str]]:
    """Yield name, requested and actual value of each setting and option, which is not read back.

    ``256 (sda, sdb); 128 (sdc)`` are the values of a setting, with their places if it has any.
    """
    for name, requested in configuration.settings.items():
        places: dict[str, list[str]] = {}
        for label, values in configuration.read_back.items():
            setting, _, place = label.partition("@")
            if setting == name:
                places.setdefault(" or ".join(values), []).extend(filter(None, [place]))
        texts = (f"{v} ({', '.join(names)})" if names else v for v, names in places.items())
        yield name, requested, "; ".join(texts)
    for name, requested in configuration.options.items():
        yield f"workload.{name}", requested, ""
