"""Sizes, percentages and times."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy import units


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("4096", 4096),
        (4096, 4096),
        ("1KiB", 1024),
        ("256 MiB", 256 << 20),
        ("1.5GiB", 3 << 29),
        ("1GB", 10**9),
        ("2kB", 2000),
        ("4k", 4096),
        ("64K", 65536),
        ("1G", 1 << 30),
        ("1g", 1 << 30),
    ],
)
def test_sizes_are_read_with_binary_and_decimal_units_apart(text, size_bytes):
    assert units.parse_size(text) == size_bytes


@pytest.mark.parametrize(
    "text", ["1 gigabyte", "", "-1MiB", "1KB", "1.0001B", "GiB", "1e3", "0x10"]
)
def test_an_invalid_size_is_refused_with_the_expected_form(text):
    with pytest.raises(ValueError, match=r"size|whole number"):
        units.parse_size(text)


@pytest.mark.parametrize(
    ("parse", "most", "more"),
    [
        (units.parse_size, 2**63 - 1, 2**63),
        (units.parse_count, 2**63 - 1, 2**63),
        (units.parse_seconds, "9223372036s", "9223372037s"),
    ],
)
def test_a_size_beyond_the_kernels_range_is_refused(parse, most, more):
    parse(most)
    with pytest.raises(ValueError, match="write at most 9223372036"):
        parse(more)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30 s", 30),
        ("30", 30),
        (30, 30),
        ("5m", 300),
        ("2min", 120),
        ("1d", 86400),
        ("5msec", 0.005),
    ],
)
def test_times_are_read_as_fio_and_systemd_do(text, seconds):
    assert units.parse_seconds(text) == seconds


@given(st.integers(min_value=0, max_value=1 << 60))
def test_a_written_size_reads_back_as_itself(size_bytes):
    assert units.parse_size(units.format_size(size_bytes)) == size_bytes


@pytest.mark.parametrize(("text", "share"), [("3%", 0.03), ("2.5 %", 0.025), ("300%", 3.0)])
def test_percentages(text, share):
    assert units.parse_percent(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["3", "0.03", "-3%", "three%", ""])
def test_an_invalid_percentage_is_refused_with_the_expected_form(text):
    with pytest.raises(ValueError, match="such as 3%"):
        units.parse_percent(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.85, "850 ms"), (12.34, "12.3 s"), (185, "3 min 05 s"), (7800, "2 h 10 min")],
)
def test_durations_read_as_people_say_them(seconds, text):
    assert units.format_seconds(seconds) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.03, "3 %"),
        (0.025, "2.5 %"),
        (0.12345, "12.3 %"),
        (10.14, "1010 %"),
        (1e6, "100000000 %"),
        (1e-7, "0.00001 %"),
        (0.0, "0 %"),
        (-0.125, "-12.5 %"),
    ],
)
def test_percentages_are_plain_digits(share, text):
    assert units.format_percent(share) == text


@pytest.mark.parametrize(
    ("text", "count"), [("7", 7), (7, 7), ("10M", 10_000_000), ("1.5k", 1500), ("2 G", 2 * 10**9)]
)
def test_counts_are_read_short_or_whole(text, count):
    assert units.parse_count(text) == count


@pytest.mark.parametrize("text", ["many", "1.5", "-1", "1KiB", "0.0001k"])
def test_an_invalid_count_is_refused_with_the_expected_form(text):
    with pytest.raises(ValueError, match=r"count|whole number"):
        units.parse_count(text)


@given(st.integers(min_value=0, max_value=1 << 60))
def test_a_written_count_reads_back(count):
    assert units.parse_count(units.format_count(count)) == count


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("300ms", 0.3), ("40min", 2400), ("2 h", 7200), (0, 0)]
)
def test_times_are_read_with_their_unit(text, seconds):
    assert units.parse_seconds(text) == seconds


@pytest.mark.parametrize("text", ["soon", "-1s", "1 day"])
def test_an_invalid_time_is_refused_with_the_expected_form(text):
    with pytest.raises(ValueError, match="time"):
        units.parse_seconds(text)


@given(st.floats(min_value=0, max_value=1e9))
def test_a_written_time_reads_back(seconds):
    assert units.parse_seconds(units.format_exact_seconds(seconds)) == pytest.approx(seconds)


@given(st.integers(0, 1000))
def test_a_percentage_is_read_back_as_it_was_written(tenths):
    fraction = units.parse_percent(f"{tenths / 10}%")
    assert units.parse_percent(units.format_exact_percent(fraction)) == fraction


@pytest.mark.parametrize(("fraction", "text"), [(0.0, "0%"), (0.3, "30%"), (1.0, "100%")])
def test_a_percentage_is_written_short(fraction, text):
    assert units.format_exact_percent(fraction) == text
