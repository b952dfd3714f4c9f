import math

import numpy as np
import pytest

from iostudy.analysis.paired import Interval
from iostudy.analysis.switchback.confirmation import (
    MOST_BLOCKS,
    ConfirmationOutcome,
    PairedMean,
    measure_agreement,
)

MARGIN = math.log1p(0.05)


def paired(values):
    return PairedMean(float(values.mean()), float(values.std(ddof=1)), len(values))


def drawn(draw, bias, sd, blocks=5):
    windows = paired(0.1 + 0.1 * draw.standard_normal(100))
    return agreement(paired(0.1 + bias + sd * draw.standard_normal(blocks)), windows)


def agreement(trials, windows):
    """The windows show the interval of a repeated test, three standard errors to each side."""
    half = 3 * windows.sd / math.sqrt(windows.count)
    shown = Interval(windows.mean - half, windows.mean + half)
    return measure_agreement(trials, windows, shown, MARGIN)


def rate(outcome, bias, sd, studies=2000, blocks=5):
    draw = np.random.default_rng(1)
    return np.mean([drawn(draw, bias, sd, blocks).outcome is outcome for _ in range(studies)])


@pytest.fixture
def without_forecast(monkeypatch):
    """Skip the search for the number of blocks, which takes longer than the outcome."""
    monkeypatch.setattr("iostudy.analysis.switchback.confirmation.MOST_BLOCKS", 0)


@pytest.mark.usefixtures("without_forecast")
@pytest.mark.parametrize("sd", [0.01, 0.05, 0.2])
def test_equal_differences_rarely_disagree(sd):
    assert rate(ConfirmationOutcome.DISAGREE, 0.0, sd) <= 0.05


@pytest.mark.usefixtures("without_forecast")
@pytest.mark.parametrize("sd", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("bias", [MARGIN, -MARGIN])
def test_a_difference_of_the_margin_rarely_agrees(sd, bias):
    assert rate(ConfirmationOutcome.AGREE, bias, sd) <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / 2000)


@pytest.mark.usefixtures("without_forecast")
def test_outcomes_are_found():
    assert rate(ConfirmationOutcome.AGREE, 0.0, 0.01) >= 0.9
    assert rate(ConfirmationOutcome.DISAGREE, 0.25, 0.05) >= 0.9


@pytest.mark.usefixtures("without_forecast")
def test_intervals_cover_the_difference_of_unequal_variances():
    draw, covered = np.random.default_rng(2), 0
    for _ in range(2000):
        found = drawn(draw, 0.03, 0.05)
        covered += found.low <= 0.03 <= found.high
    assert covered / 2000 >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / 2000)


def test_a_disagreement_has_disjoint_intervals():
    windows = PairedMean(0.1, 0.1, 100)
    for mean, outcome in ((0.14, "undecided"), (0.16, "disagree"), (0.04, "disagree")):
        assert agreement(PairedMean(mean, 0.02, 5), windows).outcome.value == outcome


def test_the_needed_blocks_decide_the_same_figures(monkeypatch):
    windows = PairedMean(0.0, 0.05, 100)
    found = agreement(PairedMean(0.01, 0.1, 5), windows)
    assert found.outcome is ConfirmationOutcome.UNDECIDED
    assert found.blocks_needed > 5
    decided = PairedMean(0.01, 0.1, found.blocks_needed)
    assert agreement(decided, windows).outcome is ConfirmationOutcome.AGREE
    fewer = PairedMean(0.01, 0.1, found.blocks_needed - 1)
    again = agreement(fewer, windows)
    assert again.outcome is ConfirmationOutcome.UNDECIDED
    assert again.blocks_needed == found.blocks_needed
    for most, needed in ((found.blocks_needed, found.blocks_needed), (fewer.count, None)):
        monkeypatch.setattr("iostudy.analysis.switchback.confirmation.MOST_BLOCKS", most)
        assert agreement(PairedMean(0.01, 0.1, 5), windows).blocks_needed == needed


def test_imprecise_windows_or_trials_name_no_number():
    vague = PairedMean(0.0, 0.3, 10)
    assert agreement(PairedMean(0.0, 0.01, 5), vague).blocks_needed is None
    noisy = PairedMean(0.0, 0.03 * MOST_BLOCKS, 5)
    assert agreement(noisy, PairedMean(0.0, 0.01, 99)).blocks_needed is None


def test_figures_without_noise():
    exact = PairedMean(0.1, 0.0, 10)
    assert agreement(exact, exact).outcome is ConfirmationOutcome.AGREE
    assert agreement(PairedMean(0.0, 0.0, 5), exact).outcome is ConfirmationOutcome.DISAGREE
