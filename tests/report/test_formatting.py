from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.analysis.slow_runs import SlowRuns
from iostudy.analysis.verdict import Verdict
from iostudy.report.formatting import (
    format_against,
    format_change_interval,
    format_fact,
    format_fact_name,
    format_figure,
    format_interval,
    format_signed_change,
)
from iostudy.report.topics.verdicts import (
    choose_verdict_symbol,
    format_blocks,
    format_change_size,
    format_slow_runs,
    format_verdict,
)
from tests.report.factory import result, span


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234.5, "1230"),
        (512.0, "512"),
        (51.04, "51.0"),
        (5.1, "5.10"),
        (0.01234, "0.0123"),
        (999.6, "1000"),
        (9.996, "10.0"),
        (0.0, "0"),
        (-5.126, "-5.13"),
        (None, "–"),
    ],
)
def test_figures_have_three_significant_digits(value: float | None, text: str) -> None:
    assert format_figure(value) == text


@given(st.floats(min_value=1e-12, max_value=1e15))
def test_three_digits_are_within_half_a_percent(value: float) -> None:
    text = format_figure(value)
    assert "e" not in text
    assert math.isclose(float(text), value, rel_tol=0.00501)


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (-0.1204, "-12.0 %"),
        (0.0, "+0.0 %"),
        (0.0004, "+0.04 %"),
        (-0.0003, "-0.03 %"),
        (-0.9997, "-99.97 %"),
        (-0.99996, "-99.99 %"),
        (None, "–"),
    ],
)
def test_changes_have_one_decimal_and_no_minus_zero(fraction: float | None, text: str) -> None:
    assert format_signed_change(fraction) == text


def test_changes_above_100_percent_are_ratios() -> None:
    assert format_signed_change(29.0) == "30.0 x"
    assert format_signed_change(1.0) == "+100.0 %"
    assert format_change_interval(29.0, span(24.1, 35.2)) == "30.0 x [25.1, 36.2]"
    assert format_change_interval(1.5, span(-0.3, 5000.0)) == "2.50 x [too wide]"
    assert format_change_interval(0.05, None) == "+5.0 % [too wide]"
    assert format_change_interval(None, span(-1.0, 0.04)) == "– [-100.0, +4.0]"
    assert format_change_interval(4.0, span(0.5, 5000.0)) == "5.00 x [1.50, >1000]"
    faster = result("1024", Verdict.BETTER, change=29.0, interval=span(24.1, 35.2))
    assert format_change_size(faster) == "30.0 x [25.1, 36.2]"


def test_slow_runs_have_a_bound() -> None:
    slow = SlowRuns(slow=0, runs=30, at_most=0.0951)
    assert format_slow_runs(result("bfq", Verdict.WORSE, slow=slow)) == "0 of 30, at most 9.51 %"
    assert format_slow_runs(result("bfq", Verdict.WORSE)) == ""


def test_uninformative_interval_is_rounded() -> None:
    assert format_interval(span(-0.9999, 1048654.6)) == "[too wide]"
    assert format_interval(span(0.5, 1048654.6)) == "[+50.0, >+1000]"


def test_infeasible_numbers_of_blocks_are_capped() -> None:
    losing = result("bfq", Verdict.INCONCLUSIVE, blocks=20, blocks_needed=6941)
    assert format_blocks(losing) == "20 of >1000"


def test_long_baseline_is_not_in_a_column_head() -> None:
    assert format_against("none") == "against none"
    assert format_against("direct=true, record_size=1MiB") == "against baseline"


def test_the_verdict_names_the_margin_and_fragility() -> None:
    losing = result("bfq", Verdict.WORSE, by_margin=True, fragile=True)
    assert format_verdict(losing) == "worse by at least the margin (fragile)"
    assert format_verdict(result("none")) == "baseline"
    assert format_verdict(result("bfq", Verdict.INCONCLUSIVE, blocks=0)) == "no data"


def test_symbols_distinguish_verdicts_without_colour() -> None:
    symbols = {choose_verdict_symbol(verdict) for verdict in Verdict}
    assert len(symbols) == len(Verdict)


def test_circumstances_have_units_and_words() -> None:
    assert format_fact_name("memory_bytes", 137438953472) == "memory"
    assert format_fact(137438953472, "memory_bytes") == "128 GiB"
    assert format_fact(0, "size_bytes") == "0 B"
    assert format_fact(["rw", "relatime"], "options") == "rw, relatime"
    assert format_fact(True, "rotational") == "yes"
    assert format_fact(None, "model") == "–"
