"""Names of configurations and factors in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from iostudy.results.comparisons import FIRST_LEVELS
from iostudy.study.combinations import Factor, find_labelling_factors
from iostudy.study.labels import short_names
from iostudy.study.mode import find_mode
from iostudy.study.model import Study

SELF_NAMED = ("workload.run", "workload.job")
"""Factors whose levels name themselves: commands and job files."""
_WORDS = ("none", "all", "on", "off", "true", "false")
"""Labels that read as ordinary words of a sentence."""


def find_single_factor(study: Study) -> str:
    """Return the short name of the factor if labels have only its level.

    Empty if the study file names its configurations, if several factors label them, or if the
    levels name themselves.
    """
    if study.chosen or study.design is not None:
        return ""
    names = find_labelling_factors(study.factors)
    if len(names) != 1 or names[0] in SELF_NAMED:
        return ""
    return short_names(names)[names[0]]


def name_configuration(label: str, factor: str) -> str:
    """Name a configuration in a sentence: ``read_ahead_kb=1024``.

    ``factor`` is that of ``find_single_factor``; if it is empty, the label already names them.
    """
    return quote_label(f"{factor}={label}" if factor else label)


def quote_label(label: str) -> str:
    """Return a label, in quotation marks if it reads as several or as ordinary words."""
    apart = " " in label or "," in label or label in _WORDS
    return f"“{label}”" if apart else label


_NOUNS = {"block.scheduler": "scheduler", "workload.run": "command"}


def find_study_noun(study: Study) -> str:
    """Return the noun of what a study compares: ``level``, or that of its factor."""
    return "level" if find_mode(study).compares_levels else find_factor_noun(study.factors)


def find_baseline_label(study: Study) -> str:
    """Return the label of what a study compares with: the baseline, or the first levels."""
    return FIRST_LEVELS if find_mode(study).compares_levels else study.baseline.label


def find_factor_noun(factors: Sequence[Factor]) -> str:
    """Return the noun of the varied factor, after "no": ``scheduler``, ``direct value``."""
    names = find_labelling_factors(factors)
    if len(names) != 1:
        return "configuration"
    (name,) = names
    return _NOUNS.get(name, f"{name.rpartition('.')[2]} value")
