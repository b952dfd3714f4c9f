"""Tests of tables that fit the width of a terminal."""

from __future__ import annotations

import io

from rich.cells import cell_len
from rich.console import Console

from iostudy.report.section import TextTable

LABELS = ("direct=true, record_size=1MiB", "direct=false, record_size=64KiB")


def printed(table: TextTable, width: int) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def table_of(columns: int, words: int = 0) -> TextTable:
    heads = ("configuration", *(f"figure {n} of loop0, ms" for n in range(columns)))
    cells = tuple(f"{n}.25" for n in range(columns))
    texts = tuple(f"what was found in column {n}" for n in range(words))
    rows = [(label, *cells, *texts) for label in LABELS]
    return TextTable("", (*heads, *(f"text {n}" for n in range(words))), rows, 1, words)


def test_a_table_is_never_split_and_names_what_it_leaves_out() -> None:
    text = printed(table_of(12), 80)
    assert text.count("configuration") == 1
    assert "not shown at 80 columns: " in text
    shown = [n for n in range(12) if f"{n}.25" in text]
    assert shown == list(range(len(shown))) and len(shown) > 4
    named = " ".join(text.partition("not shown at")[2].split())
    assert all(f"figure {n} " in named for n in range(len(shown), 12))
    assert max(map(cell_len, text.splitlines())) <= 80


def test_text_that_fits_is_not_cut() -> None:
    text = printed(table_of(12), 300)
    assert "not shown" not in text
    assert all(f"{n}.25" in text for n in range(12))


def test_names_wrap_between_levels_before_columns_are_left_out() -> None:
    text = printed(table_of(4), 60)
    assert "not shown" not in text
    assert "record_size=64KiB" in text
    assert LABELS[1] not in text


def test_columns_of_words_stay() -> None:
    text = " ".join(printed(table_of(6, words=2), 70).split())
    assert "text 0" in text and "text 1" in text
    assert "not shown at 70 columns: " in text


def test_one_column_of_numbers_stays_whatever_the_width() -> None:
    assert "0.25" in printed(table_of(3), 36).replace("\n", "")


def test_no_cell_loses_characters_where_names_and_words_are_wide() -> None:
    cells = tuple(f"a-name-that-does-not-end-for-{n}-characters" for n in range(5))
    table = TextTable("", ("a", "b", "c", "d", "e"), [cells], names=2, words=3)
    lines = printed(table, 60).splitlines()
    assert max(map(cell_len, lines)) <= 60
    shown = "".join(sorted("".join(lines[3:]).replace(" ", "").replace("─", "")))
    assert shown == "".join(sorted("".join(cells)))
