from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.analysis.verdict import Verdict
from iostudy.report.formatting import (
    choose_verdict_symbol,
    format_against,
    format_blocks,
    format_fact,
    format_fact_name,
    format_figure,
    format_interval,
    format_signed_percent,
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
    [(-0.1204, "-12.0 %"), (0.0, "+0.0 %"), (0.0004, "+0.04 %"), (-0.0003, "-0.03 %"), (None, "–")],
)
def test_changes_have_one_decimal_and_no_minus_zero(fraction: float | None, text: str) -> None:
    assert format_signed_percent(fraction) == text


def test_uninformative_interval_is_rounded() -> None:
    assert format_interval(span(-0.9999, 1048654.6)) == "[too wide]"
    assert format_interval(span(0.5, 1048654.6)) == "[+50.0, >+1000]"


def test_blocks_beyond_doing_are_capped() -> None:
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
    symbols = {choose_verdict_symbol(result("bfq", verdict)) for verdict in Verdict}
    assert len(symbols) == len(Verdict)


def test_circumstances_have_units_and_words() -> None:
    assert format_fact_name("memory_bytes", 137438953472) == "memory"
    assert format_fact(137438953472, "memory_bytes") == "128 GiB"
    assert format_fact(0, "size_bytes") == "0 B"
    assert format_fact(["rw", "relatime"], "options") == "rw, relatime"
    assert format_fact(True, "rotational") == "yes"
    assert format_fact(None, "model") == "–"
