from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.analysis.verdict import Verdict
from iostudy.report import wording
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
    assert wording.significant(value) == text


@given(st.floats(min_value=1e-12, max_value=1e15))
def test_three_digits_are_within_half_a_percent(value: float) -> None:
    text = wording.significant(value)
    assert "e" not in text
    assert math.isclose(float(text), value, rel_tol=0.00501)


@pytest.mark.parametrize(
    ("fraction", "text"),
    [(-0.1204, "-12.0 %"), (0.0, "+0.0 %"), (0.0004, "+0.04 %"), (-0.0003, "-0.03 %"), (None, "–")],
)
def test_changes_have_one_decimal_and_no_minus_zero(fraction: float | None, text: str) -> None:
    assert wording.signed_percent(fraction) == text


def test_an_interval_that_tells_nothing_is_not_told_to_ten_digits() -> None:
    assert wording.signed_span(span(-0.9999, 1048654.6)) == "[too wide to tell]"
    assert wording.signed_span(span(0.5, 1048654.6)) == "[+50.0, >+1000]"


def test_blocks_beyond_doing_are_capped() -> None:
    told = result("bfq", Verdict.INCONCLUSIVE, blocks=20, blocks_needed=6941)
    assert wording.blocks(told) == "20 of >1000"


def test_a_long_baseline_does_not_stand_in_a_head() -> None:
    assert wording.against("none") == "against none"
    assert wording.against("direct=true, record_size=1MiB") == "against baseline"


def test_the_verdict_names_the_margin_and_fragility() -> None:
    told = result("bfq", Verdict.WORSE, by_margin=True, fragile=True)
    assert wording.verdict(told) == "worse by at least the margin (fragile)"
    assert wording.verdict(result("none")) == "baseline"
    assert wording.verdict(result("bfq", Verdict.INCONCLUSIVE, blocks=0)) == "no data"


def test_symbols_tell_verdicts_apart_without_colour() -> None:
    symbols = {wording.verdict_symbol(result("bfq", verdict)) for verdict in Verdict}
    assert len(symbols) == len(Verdict)


def test_circumstances_have_units_and_words() -> None:
    assert wording.fact_name("memory_bytes", 137438953472) == "memory"
    assert wording.fact_text(137438953472, "memory_bytes") == "128 GiB"
    assert wording.fact_text(0, "size_bytes") == "0 B"
    assert wording.fact_text(["rw", "relatime"], "options") == "rw, relatime"
    assert wording.fact_text(True, "rotational") == "yes"
    assert wording.fact_text(None, "model") == "–"
