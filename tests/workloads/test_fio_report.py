"""fio's json+ is read whatever stands around it, and refused where it is not whole."""

from __future__ import annotations

import contextlib
import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.units import MIB
from iostudy.workloads.external.fio_report import NoReportError, parse


def direction(operations=0, size=0, runtime=0, bins=None):
    clat = {"max": max(map(int, bins), default=0), "bins": bins} if bins else {"max": 0}
    return {
        "io_bytes": size,
        "total_ios": operations,
        "runtime": runtime,
        "bw_bytes": 0,
        "iops": 0.0,
        "clat_ns": clat,
        "lat_ns": {"max": 0, "mean": 0.0},
    }


def job(name="x", group=0, **directions):
    empty = {each: direction() for each in ("read", "write", "trim")}
    fields = {"jobname": name, "groupid": group, "error": 0, "usr_cpu": 1.0, "sys_cpu": 2.0}
    return {**fields, **empty, **directions, "sync": {"lat_ns": {}}}


READS = direction(10, 8 * MIB, 2000, {"1000": 9, "5000": 1})
WRITES = direction(30, 4 * MIB, 4000, {"2000": 30})


def text(*jobs):
    return json.dumps({"fio version": "fio-9", "jobs": jobs}, indent=1)


def test_directions_share_the_time_of_the_longest():
    figures = parse(text(job(read=READS, write=WRITES))).figures((0,))
    assert figures["bandwidth"] == pytest.approx(12 / 4)
    assert figures["iops"] == pytest.approx(40 / 4)
    assert figures["read_bandwidth"] == pytest.approx(8 / 2)
    assert figures["write_iops"] == pytest.approx(30 / 4)
    assert "trim_bandwidth" not in figures


def test_separate_and_combined_figures_count_once():
    mixed = direction(40, 12 * MIB, 4000, {"1000": 9, "5000": 1, "2000": 30})
    report = parse(text(job(read=READS, write=WRITES, mixed=mixed)))
    figures = report.figures((0,))
    assert (figures["bandwidth"], figures["iops"]) == (pytest.approx(12 / 4), pytest.approx(10))
    assert figures["read_bandwidth"] == pytest.approx(8 / 2)
    assert report.moved_bytes() == 12 * MIB


@pytest.mark.parametrize(("phases", "seconds"), [((0, 0), 4), ((0, 1), 6)])
def test_phases_add_their_times(phases, seconds):
    jobs = (job(read=READS), job("y", 1, write=WRITES))
    assert parse(text(*jobs)).figures(phases)["bandwidth"] == pytest.approx(12 / seconds)


def test_latencies_of_all_jobs_are_merged_from_their_bins():
    report = parse(text(job(read=READS), job("y", write=WRITES)))
    figures = report.figures((0,))
    assert figures["latency_p50"] == 2.0
    assert figures["latency_max"] == figures["latency_p99"] == 5.0
    assert figures["read_latency_p50"] == 1.0
    assert figures["write_latency_max"] == 2.0
    counts = {name: sum(c for _, c in found) for name, found in report.histograms().items()}
    assert counts == {"read": 10, "write": 30}


def test_errors_that_were_met_and_survived_are_noted():
    assert parse(text(job() | {"total_err": 3})).notes() == ["job x went on after 3 errors"]


def test_several_reports_in_one_text_are_none():
    one = text(job(read=READS))
    with pytest.raises(NoReportError, match="2 reports"):
        parse(f"{one}\n{one}\n")


def test_a_report_of_an_old_fio_is_named():
    old = copy.deepcopy(job(read=READS))
    del old["read"]["lat_ns"]
    with pytest.raises(NoReportError, match="a report of fio-9, without what fio 3 has"):
        parse(text(old))


def test_total_latencies_count_where_percentiles_are_of_these_only():
    plain = direction(10, 8 * MIB, 2000)
    plain["lat_ns"]["percentile"] = {"99.000000": 7000}
    assert parse(text(job(read=plain))).all_figures()["read_latency_p99"] == 7.0


def test_circumstances_are_those_of_all_jobs_and_of_their_global_section():
    jobs = (job() | {"job options": {"bs": "4k"}, "total_err": 2}, job("y"))
    document = json.loads(text(*jobs)) | {"global options": {"bs": "8k", "rw": "read"}}
    assert parse(json.dumps(document)).circumstances() == {
        "version": "fio-9",
        "job": "x, y",
        "bs": "4k, 8k",
        "rw": "read",
        "errors": "2",
    }


NOISE = st.text(st.characters(exclude_categories=["Cs"]))


@given(NOISE, NOISE)
def test_text_before_and_after_is_tolerated(before, after):
    report = parse(before + text(job(read=READS)) + after)
    assert report.figures((0,))["read_iops"] == 5


@given(st.data())
def test_a_report_that_is_cut_is_none(data):
    whole = text(job(read=READS))
    start = data.draw(st.integers(0, len(whole) - 1))
    end = data.draw(st.integers(start, len(whole) - 1))
    with pytest.raises(NoReportError):
        parse(whole[start:end])


@given(st.data())
def test_incomplete_report_is_an_error(data):
    damaged = copy.deepcopy(job(read=READS))
    way = damaged
    while True:
        key = data.draw(st.sampled_from(sorted(way)))
        if not isinstance(way[key], dict) or not way[key] or data.draw(st.booleans()):
            break
        way = way[key]
    way[key] = data.draw(st.sampled_from([None, "x", [], {}, -1]))
    with contextlib.suppress(NoReportError):
        parse(text(damaged)).figures((0,))


@pytest.mark.parametrize("jobs", [[], [1], [{}], [job(group=7)]])
def test_invalid_jobs_are_reported(jobs):
    with pytest.raises(NoReportError):
        parse(text(*jobs))


@pytest.mark.parametrize("plain", [False, True])
def test_syncs_have_latencies_of_their_own(plain):
    lat = {"max": 9000, "mean": 1.0, "percentile": {"50.000000": 7000}}
    lat |= {} if plain else {"bins": {"7000": 2, "9000": 1}}
    own = job(write=WRITES) | {"sync": {"total_ios": 3, "lat_ns": lat}}
    figures = parse(text(own)).all_figures()
    assert figures["sync_latency_p50"] == 7.0
    assert figures["write_latency_max"] == 2.0
    assert "sync_latency_p50" not in parse(text(job(write=WRITES))).all_figures()
