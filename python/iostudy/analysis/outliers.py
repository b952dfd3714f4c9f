"""Outlier flags by Tukey's fences and the median absolute deviation. Nothing is removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

# Tukey, Exploratory Data Analysis (1977): 1.5 interquartile ranges beyond the quartiles.
TUKEY_RANGES = 1.5
# Iglewicz & Hoaglin, How to Detect and Handle Outliers (1993): modified z-score beyond 3.5, where
# 0.6745 makes the median absolute deviation comparable with the sd of a normal distribution.
MAD_LIMIT = 3.5
MAD_SCALE = 0.6745


class OutlierRule(StrEnum):
    """The rule that flags a value."""

    TUKEY = "Tukey fences"
    MAD = "median absolute deviation"


@dataclass(frozen=True)
class Outlier:
    """A flagged value: its index in the series and the rules that flag it."""

    index: int
    rules: frozenset[OutlierRule]


def flag_outliers(values: Sequence[float]) -> tuple[Outlier, ...]:
    """Return the outliers of a series of finite values in order.

    Where more than half of the values are equal, their MAD is zero and its rule flags nothing.
    """
    if not values:
        return ()
    series = np.asarray(values, dtype=np.float64)
    beyond = {OutlierRule.TUKEY: _beyond_fences(series), OutlierRule.MAD: _beyond_mad(series)}
    flagged = (
        Outlier(index, frozenset(rule for rule, flags in beyond.items() if flags[index]))
        for index in range(len(series))
    )
    return tuple(outlier for outlier in flagged if outlier.rules)


def _beyond_fences(series: NDArray[np.float64]) -> NDArray[np.bool_]:
    lower, upper = np.quantile(series, [0.25, 0.75])
    reach = TUKEY_RANGES * (upper - lower)
    return np.asarray((series < lower - reach) | (series > upper + reach))


def _beyond_mad(series: NDArray[np.float64]) -> NDArray[np.bool_]:
    deviation = np.abs(series - np.median(series))
    mad = np.median(deviation)
    return np.asarray((mad > 0) & (MAD_SCALE * deviation > MAD_LIMIT * mad))
