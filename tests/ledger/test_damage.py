"""Damaged ledgers are refused with the damaged rows; a crash is no damage."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.errors import LedgerError
from iostudy.ledger import seal
from iostudy.ledger.encoding import decode_row
from iostudy.ledger.seal import Head, checksum
from iostudy.ledger.store import FILE_NAME, Ledger
from tests.attack import ledger as campaign
from tests.ledger.test_store import ENDED, STUDY, TRIAL

WAL = f"{FILE_NAME}-wal"


def write(folder, trials=3):
    """A ledger with a row in every table."""
    with closing(Ledger.create(folder, STUDY)) as ledger:
        ledger.resume(5.0, {})
        with ledger.tables.transaction() as change:
            for number, label in enumerate("ab", start=1):
                values = {"number": number, "round": 1, "label": label}
                change.insert("candidate", **values, point="{}", refused="")
            change.update("candidate", 2, refused="no room")
        for position in range(1, trials + 1):
            row = replace(TRIAL, position=position)
            ledger.finish(replace(ENDED, id=ledger.begin(row), position=position))
        ledger.complete("file-writes", 1, 1)
        with ledger.tables.transaction() as change:
            change.insert("outcome", winner="a")


def harm(folder, statement):
    """Change the ledger behind iostudy's back."""
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection, connection:
        connection.execute(statement)


def refused(folder):
    before = set(Path("/proc/self/fd").iterdir())
    with pytest.raises(LedgerError) as caught:
        Ledger.open(folder, read_only=True).close()
    assert set(Path("/proc/self/fd").iterdir()) == before
    return caught.value


@pytest.mark.parametrize(
    ("table", "statement"),
    [
        ("head", "UPDATE head SET changes = changes + 1"),
        ("study", "UPDATE study SET seed = '8'"),
        ("resumption", "UPDATE resumption SET started_at = 6"),
        ("trial", "UPDATE trial SET figures = '{\"bandwidth\": 1235.5}' WHERE id = 1"),
        ("trial", "UPDATE trial SET telemetry_sha256 = '' WHERE id = 1"),
        ("trial", "UPDATE trial SET status = CAST(x'ff' AS TEXT) WHERE id = 1"),
        ("trial", "UPDATE trial SET notes = x'00' WHERE id = 1"),
        ("complete_block", "UPDATE complete_block SET attempt = 2"),
        ("candidate", "UPDATE candidate SET refused = 'a reason' WHERE number = 1"),
        ("outcome", "UPDATE outcome SET winner = NULL"),
    ],
)
def test_a_changed_row_is_named(tmp_path, table, statement):
    write(tmp_path)
    harm(tmp_path, statement)
    error = refused(tmp_path)
    assert f"{table} 1;" in error.found
    intact = 2 if table == "trial" else 3
    assert f"{intact} of trial" in error.found
    assert "restore the output folder from a copy" in error.remedy


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM trial WHERE id = 3",
        "DELETE FROM outcome",
        "DELETE FROM complete_block",
        "INSERT INTO outcome SELECT * FROM outcome",
        "INSERT INTO resumption SELECT * FROM resumption",
    ],
)
def test_a_row_that_is_lost_or_doubled_shows(tmp_path, statement):
    write(tmp_path)
    harm(tmp_path, statement)
    assert "rows are lost, duplicated or outdated" in refused(tmp_path).found


def test_a_table_that_is_declared_otherwise_shows(tmp_path):
    write(tmp_path)
    harm(tmp_path, "ALTER TABLE trial RENAME COLUMN figures TO figurez")
    assert "schema differs from the original" in refused(tmp_path).found


def test_a_row_that_cannot_be_decoded_is_named(tmp_path):
    """As a checksum that was computed anew lets through."""
    write(tmp_path)
    with closing(Ledger.open(tmp_path)) as ledger:
        with ledger.tables.transaction() as change:
            change.update("trial", 2, status="finnished")
        with pytest.raises(LedgerError, match="trial 2: ValueError: 'finnished'"):
            ledger.rows()


def test_an_earlier_ledger_under_a_newer_seal_is_refused(tmp_path):
    write(tmp_path)
    earlier = (tmp_path / FILE_NAME).read_bytes()
    with closing(Ledger.open(tmp_path)) as ledger:
        ledger.finish(replace(ENDED, id=ledger.begin(replace(TRIAL, position=9))))
    (tmp_path / FILE_NAME).write_bytes(earlier)
    error = refused(tmp_path)
    assert "its seal is of change" in error.found
    assert "ledger.sqlite-wal" in error.remedy


def test_a_log_that_was_cut_or_lost_is_refused_and_left_as_it_is(tmp_path):
    write(tmp_path)
    ledger = Ledger.open(tmp_path)
    for position in range(10, 15):
        ledger.finish(replace(ENDED, id=ledger.begin(replace(TRIAL, position=position))))
    for number, keep in enumerate((None, 0, 40, 5000)):
        copy = shutil.copytree(tmp_path, tmp_path.with_name(f"{tmp_path.name}-{number}"))
        if keep is None:
            (copy / WAL).unlink()
        else:
            (copy / WAL).write_bytes((copy / WAL).read_bytes()[:keep])
        before = (copy / FILE_NAME).read_bytes()
        with pytest.raises(LedgerError, match="its seal is of change"):
            Ledger.open(copy)
        assert (copy / FILE_NAME).read_bytes() == before
    ledger.close()


def test_a_crash_before_the_seal_was_written_takes_nothing_away(tmp_path):
    write(tmp_path)
    behind = (tmp_path / seal.FILE_NAME).read_bytes()
    with closing(Ledger.open(tmp_path)) as ledger:
        ledger.finish(replace(ENDED, id=ledger.begin(replace(TRIAL, position=9))))
    (tmp_path / seal.FILE_NAME).write_bytes(behind)
    with closing(Ledger.open(tmp_path)) as ledger:
        assert len(ledger.rows()) == 4
        ledger.begin(replace(TRIAL, position=10))
    with closing(Ledger.open(tmp_path, read_only=True)) as ledger:
        assert len(ledger.rows()) == 5


@pytest.mark.parametrize("slot", [0, 512])
def test_a_seal_with_one_whole_slot_serves(tmp_path, slot):
    write(tmp_path)
    content = bytearray((tmp_path / seal.FILE_NAME).read_bytes())
    content[slot] ^= 1
    (tmp_path / seal.FILE_NAME).write_bytes(content)
    Ledger.open(tmp_path).close()


@pytest.mark.parametrize("content", [None, b"", b"x" * 1024, b"1 1 zz 0\n"])
def test_a_ledger_without_its_seal_is_refused(tmp_path, content):
    write(tmp_path)
    (tmp_path / seal.FILE_NAME).unlink()
    if content is not None:
        (tmp_path / seal.FILE_NAME).write_bytes(content)
    assert "it is missing or damaged" in refused(tmp_path).found


def test_the_seal_of_another_ledger_is_refused(tmp_path):
    write(tmp_path)
    with closing(Ledger.open(tmp_path, read_only=True)) as ledger:
        own = ledger.tables.stored_head()
    seal.create(tmp_path, replace(own, total=own.total + 1))
    assert "its seal is of change" in refused(tmp_path).found


def test_a_second_writer_is_refused(tmp_path):
    write(tmp_path)
    first, second = Ledger.open(tmp_path), Ledger.open(tmp_path)
    first.begin(replace(TRIAL, position=9))
    with pytest.raises(LedgerError, match="another process has written to it"):
        second.begin(replace(TRIAL, position=10))
    first.begin(replace(TRIAL, position=10))
    first.close()
    second.close()


def test_a_head_does_not_depend_on_the_order_of_its_rows():
    first, second = checksum("trial", [1, "a", None]), checksum("trial", [2, "a", 0.5])
    assert Head().with_row(first).with_row(second) == Head().with_row(second).with_row(first)
    assert Head().with_row(first).without_row(first) == Head()


@pytest.mark.child
def test_few_random_damages_are_never_silent(tmp_path):
    """The campaign itself has thousands: ``python -m tests.attack ledger``."""
    ended = campaign.make_ended(tmp_path / "ended")
    killed = campaign.make_killed(tmp_path / "killed", ended)
    draw = random.Random(2)
    for study in (campaign.DamagedCopies(tmp_path, folder) for folder in (ended, killed)):
        assert [study.changed(draw) for _ in range(4)] == [""] * 4
        assert study.cut(draw) == ""


def test_values_that_no_report_can_show_or_python_decode(tmp_path):
    with (
        closing(Ledger.create(tmp_path, replace(STUDY, started_at=1e300))) as ledger,
        pytest.raises(LedgerError, match="no time that can be printed"),
    ):
        ledger.study()
    with closing(sqlite3.connect(":memory:")) as connection:
        row = connection.execute("SELECT 7").fetchone()
    with pytest.raises(LedgerError, match="study 7: RecursionError"):
        decode_row(tmp_path, "study", row, lambda _: json.loads("[" * 200_000))
