"""The ledger keeps every trial and never overwrites a study."""

from __future__ import annotations

import math
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.errors import LedgerError, RecordError
from iostudy.ledger import seal
from iostudy.ledger.rows import SamplesFile, StudyRow, TrialRow, TrialStatus
from iostudy.ledger.store import FILE_NAME, SCHEMA_VERSION, Ledger
from iostudy.telemetry.summary import BlockRequests, ForeignProcess, Requests, TelemetrySummary
from iostudy.workloads.measurement import Part
from tests.unflushed import connect_durably

STUDY = StudyRow(
    name="study",
    text="question: Which?\n",
    root=True,
    offered={"block.scheduler": ("none", "bfq")},
    left_out={"cfq": "the kernel has none"},
    seed=2**63 - 1,
    started_at=1.5,
    iostudy_version="0.1.0",
    circumstances={"host": {"kernel": "6.1"}},
)
TRIAL = TrialRow(
    id=0,
    block=1,
    attempt=1,
    position=1,
    workload="file-writes",
    configuration="none",
    status=TrialStatus.STARTED,
    started_at=2.5,
)
ENDED = replace(
    TRIAL,
    status=TrialStatus.FINISHED,
    figures={"bandwidth": 1234.5},
    settings={"block.scheduler@loop0": "none"},
    summary=TelemetrySummary(
        seconds=2.0,
        devices={"loop0": {"w/s": 10.0}},
        machine={"%idle": 50.0},
        network={"eth0": {"rxkB/s": 3.0}},
        foreign=(ForeignProcess(7, "updatedb", 0.5, 4096.0, 0.0),),
        requests=BlockRequests(
            {"loop0": {"read": Requests(3, 91.5, 99.0, ((100.0, 3),), ((4096, 2), (8192, 1)))}},
            events=6,
            lost=0,
            unmatched=0,
            reader_cpu_seconds=0.5,
        ),
    ),
    phases={"run": 1.0},
    notes=("page cache dropped",),
    telemetry=SamplesFile("telemetry/000001.npz", "0" * 64),
    latencies={"read": ((0.5, 3), (1024.0, 10**12)), "write": ()},
    parts=(
        Part({"operation": "read", "record_size": "4KiB"}, {"rate": 1.5}),
        Part({}, {"rate": 0.1, "latency_p99": 7.0}),
    ),
)


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger.create(tmp_path, STUDY)
    yield ledger
    ledger.close()


def test_another_process_reads_the_recorded_values(ledger, tmp_path):
    ended = replace(ENDED, id=ledger.begin(TRIAL))
    ledger.finish(ended)
    ledger.complete("file-writes", 1, 1)
    other = Ledger.open(tmp_path)
    assert other.study() == STUDY
    assert other.rows() == (replace(ended, counts=True),)
    other.close()


def test_circumstances_that_are_no_number_are_unknown(tmp_path):
    circumstances = {"host": {"load": math.nan, "rates": [1.0, math.inf]}}
    with closing(Ledger.create(tmp_path, replace(STUDY, circumstances=circumstances))) as ledger:
        assert ledger.study().circumstances == {"host": {"load": None, "rates": [1.0, None]}}


def test_a_result_is_durable_at_once(tmp_path, monkeypatch):
    flushed: list[str] = []
    monkeypatch.setattr(
        "os.fdatasync", lambda file: flushed.append(Path(f"/proc/self/fd/{file}").readlink().name)
    )
    monkeypatch.setattr("iostudy.ledger.store._connect", connect_durably)
    with closing(Ledger.create(tmp_path, STUDY)) as ledger:
        (synchronous,) = ledger.tables.connection.execute("PRAGMA synchronous").fetchone()
        assert synchronous == 2  # FULL: SQLite flushes its log at the end of each transaction
        ended = replace(ENDED, id=ledger.begin(TRIAL))
        assert not flushed
        ledger.finish(ended)
    assert flushed == [seal.FILE_NAME]


def test_a_trial_is_there_before_it_ends(ledger, tmp_path):
    ledger.begin(TRIAL)
    other = Ledger.open(tmp_path)
    assert [row.status for row in other.rows()] == [TrialStatus.STARTED]
    other.close()


def test_trials_that_never_ended_are_marked(ledger):
    ledger.begin(TRIAL)
    assert ledger.interrupt("power cut") == 1
    (row,) = ledger.rows()
    assert (row.status, row.reason) == (TrialStatus.INTERRUPTED, "power cut")


def test_only_the_attempt_that_was_completed_counts(ledger):
    first = replace(ENDED, id=ledger.begin(TRIAL), status=TrialStatus.INVALID, reason="steal")
    ledger.finish(first)
    second = replace(ENDED, id=ledger.begin(replace(TRIAL, attempt=2)), attempt=2)
    ledger.finish(second)
    ledger.complete("file-writes", 1, 2)
    assert [row.counts for row in ledger.rows()] == [False, True]


def test_a_study_is_never_written_over(ledger, tmp_path):
    with pytest.raises(LedgerError, match="already contains one"):
        Ledger.create(tmp_path, STUDY)


def test_a_folder_without_a_ledger_says_so(tmp_path):
    with pytest.raises(LedgerError, match=r"no ledger\.sqlite"):
        Ledger.open(tmp_path)


def test_a_failure_while_the_ledger_is_made_leaves_none(tmp_path, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("iostudy.durable.os.replace", full)
    with pytest.raises(RecordError, match="No space"):
        Ledger.create(tmp_path, STUDY)
    assert list(tmp_path.iterdir()) == []


def test_a_new_ledger_has_a_log_from_its_first_byte_on(ledger):
    assert ledger.tables.connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("kind", ["symlink_to", "hardlink_to"])
def test_a_ledger_is_not_opened_through_a_link(tmp_path, suffix, kind):
    Ledger.create(tmp_path, STUDY).close()
    secret, file = tmp_path / "secret", tmp_path / f"{FILE_NAME}{suffix}"
    if file.exists():
        file.rename(secret)
    else:
        secret.write_bytes(b"")
    getattr(file, kind)(secret)
    with pytest.raises(LedgerError, match="with several names"):
        Ledger.open(tmp_path)


def test_a_ledger_with_several_names_is_only_read(tmp_path):
    Ledger.create(tmp_path, STUDY).close()
    (tmp_path / "copy").hardlink_to(tmp_path / FILE_NAME)
    Ledger.open(tmp_path, read_only=True).close()
    with pytest.raises(LedgerError, match="with several names"):
        Ledger.open(tmp_path)


def test_a_ledger_cut_short_is_refused_and_left_as_it_is(tmp_path):
    ledger = Ledger.create(tmp_path, STUDY)
    for position in range(1, 20):
        ledger.finish(replace(ENDED, id=ledger.begin(replace(TRIAL, position=position))))
    ledger.close()
    path = tmp_path / FILE_NAME
    whole = path.read_bytes()
    assert len(whole) > 12288
    for keep in (0, 10, 100, 1000, 4096, 5000, 12288):
        path.write_bytes(whole[:keep])
        with pytest.raises(LedgerError) as caught:
            Ledger.open(tmp_path)
        assert caught.value.exit_code == 2
        assert "--out" in caught.value.remedy
        assert path.read_bytes() == whole[:keep]


def test_a_file_that_is_no_ledger_is_refused(tmp_path):
    (tmp_path / FILE_NAME).write_text("this is not a database, and long enough to look at" * 50)
    with pytest.raises(LedgerError, match="not a database"):
        Ledger.open(tmp_path)


def test_the_labels_of_a_part_keep_their_order(ledger):
    labels = {"z": "1", "a": "2"}
    ledger.finish(replace(ENDED, id=ledger.begin(TRIAL), parts=(Part(labels, {}),)))
    assert list(ledger.rows()[0].parts[0].labels) == ["z", "a"]


@pytest.mark.parametrize(
    ("version", "writer", "remedy"),
    [(2, "an older iostudy", "with the iostudy that wrote it"), (99, "a newer", "with that one")],
)
def test_a_ledger_of_another_version_says_what_can_be_done(
    ledger, tmp_path, version, writer, remedy
):
    connection = ledger.tables.connection
    connection.execute("ALTER TABLE study ADD COLUMN of_that_version")
    connection.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(LedgerError, match=f"version {version}") as caught:
        Ledger.open(tmp_path, read_only=True)
    assert str(SCHEMA_VERSION) in caught.value.wanted
    assert writer in caught.value.found
    assert remedy in caught.value.remedy
    assert "report.html" in caught.value.remedy
    assert "--out" in caught.value.remedy


def test_a_study_can_be_read_by_those_who_may_not_write(ledger, tmp_path):
    """Also where SQLite may not make the files that it likes to keep next to a WAL database."""
    ledger.finish(replace(ENDED, id=ledger.begin(TRIAL)))
    ledger.close()
    folder = tmp_path / "read only"
    folder.mkdir()
    for name in (FILE_NAME, seal.FILE_NAME):
        shutil.copy(tmp_path / name, folder)
    before = (folder / FILE_NAME).stat().st_mtime_ns
    reader = Ledger.open(folder, read_only=True)
    assert len(reader.rows()) == 1
    with pytest.raises(RecordError, match="readonly"):
        reader.begin(TRIAL)
    reader.close()
    assert {path.name for path in folder.iterdir()} == {FILE_NAME, seal.FILE_NAME}
    assert (folder / FILE_NAME).stat().st_mtime_ns == before


def test_a_running_study_can_be_read(ledger, tmp_path):
    ledger.begin(TRIAL)
    reader = Ledger.open(tmp_path, read_only=True)
    assert len(reader.rows()) == 1
    reader.close()


def test_no_room_for_a_trial_is_reported_as_such(ledger):
    ledger.tables.connection.execute("PRAGMA max_page_count = 1")
    with pytest.raises(RecordError, match="full") as caught:
        for position in range(1, 1000):
            ledger.begin(replace(TRIAL, position=position))
    assert caught.value.exit_code == 3
