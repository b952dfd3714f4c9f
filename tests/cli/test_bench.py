"""Tests of the parts of ``bench``: options, progress line and output."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from pydantic import Field
from rich.console import Console

from iostudy.cli.bench.command import parse_options
from iostudy.cli.bench.json_output import BenchReport, build_document
from iostudy.cli.bench.view import (
    BAR_LETTERS,
    ProgressLine,
    format_bars,
    print_result,
    print_screen,
    show_progress,
)
from iostudy.diagnosis.bottleneck import Bottleneck, Diagnosis, Finding
from iostudy.diagnosis.evidence import Confidence, Evidence
from iostudy.errors import UsageError
from iostudy.node.protocol import TrialResult
from iostudy.report.render import json_
from iostudy.telemetry.recorder import Telemetry
from iostudy.telemetry.samples import Samples
from iostudy.telemetry.summary import BlockRequests, Requests, TelemetrySummary
from iostudy.workloads.definition import Figure, fixed_figures
from iostudy.workloads.measurement import Part
from iostudy.workloads.native.io import IO
from iostudy.workloads.native.latency import merge_buckets
from iostudy.workloads.option_types import Options
from iostudy.workloads.tick import continue_run
from tests.json_schema import assert_conforms
from tests.report.parted import JOBS, cells
from tests.workloads.test_latency import BUCKETS


class NestedOptions(Options):
    """A workload with options that have parts."""

    text: str = Field("", description="a text")
    names: tuple[str, ...] = Field((), description="texts")
    either: str | tuple[str, ...] = Field("", description="one or several")
    numbers: dict[str, int] = Field({}, description="numbers by name")


NESTED = replace(IO, name="nested", options=NestedOptions)
RATE = Figure("rate", "KiB/s", "bytes over time of this part", True)


@pytest.mark.parametrize(
    ("given", "option", "value"),
    [
        ("names=[a, 'b c']", "names", ("a", "b c")),
        ('names=["a"]', "names", ("a",)),
        ("either=[a, b]", "either", ("a", "b")),
        ("either=[ -f x ] && true", "either", "[ -f x ] && true"),
        ("either={ sync; }", "either", "{ sync; }"),
        ("text=[a-z]", "text", "[a-z]"),
        ("text={a: 1}", "text", "{a: 1}"),
        ("text=a=b", "text", "a=b"),
        ("text=yes", "text", "yes"),
        ("text=[&x a, *x]", "text", "[&x a, *x]"),
        ("numbers={a: 1, b: 2}", "numbers", {"a": 1, "b": 2}),
    ],
)
def test_lists_and_mappings_are_yaml_and_texts_stay_texts(given, option, value):
    assert getattr(parse_options(NESTED, [given]), option) == value


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("numbers={a: x}", "numbers.a: write a whole number"),
        ("numbers={a: 1", "numbers"),
        ("names=a", "names"),
        ("name=[a]", "did you mean names?"),
        ("names", "has no value"),
    ],
)
def test_option_error_names_its_place(given, words):
    with pytest.raises(UsageError) as caught:
        parse_options(NESTED, [given])
    assert words in caught.value.found
    assert caught.value.remedy


def sign(lines, times, **changed):
    definition = replace(IO, **{"ticks_bytes": True, **changed})
    return ProgressLine(definition, lines.append, iter(times).__next__)


def test_progress_and_rate_are_shown_a_few_times_a_second():
    lines = []
    shown = sign(lines, [0.0, 0.1, 0.15, 2.0])
    assert all(shown.tick(done) for done in (0, 1 << 20, 1 << 30))
    assert lines == ["io: 100 ms", "io: 2.0 s, 1.00 GiB, 512 MiB/s"]


def test_a_phase_that_begins_counts_anew():
    lines = []
    shown = sign(lines, [0.0, 10.0, 10.5, 11.5])
    for done in (1 << 30, 0, 1 << 20):
        shown.tick(done)
    assert lines[-1] == "io: 1.0 s, 1.00 MiB, 1.00 MiB/s"


def test_counts_other_than_bytes_have_no_byte_unit():
    lines = []
    shown = sign(lines, [0.0, 2.0], ticks_bytes=False)
    shown.tick(3000)
    assert lines == ["io: 2.0 s, 3000 done, 1500 per second"]


def test_off_a_terminal_nothing_is_shown(capsys):
    with show_progress(IO) as tick:
        assert tick is continue_run
    assert capsys.readouterr() == ("", "")


def test_progress_line_is_cleared_at_the_end(monkeypatch, capsys):
    console = Console(stderr=True, force_terminal=True, force_interactive=True, width=60)
    monkeypatch.setattr("iostudy.cli.bench.view.err", console)
    with show_progress(replace(IO, ticks_bytes=True)) as tick:
        assert tick(1 << 20)
    captured = capsys.readouterr()
    assert "io: " in captured.err
    assert "1.00 MiB" in captured.err
    assert captured.err.endswith("\x1b[2K")
    assert captured.out == ""


def result(parts=()) -> TrialResult:
    histogram = ((0.4, 1), (10.0, 98), (1000.0, 1))
    return TrialResult(
        figures={"bandwidth": 512.0, "bytes": 67108864.0},
        settings={},
        telemetry=Telemetry(
            TelemetrySummary(1.0, {"sda": {"wkB/s": 1024.0}}, {}), Samples(np.zeros(2), {})
        ),
        devices=("sda",),
        phases={"run": 1.0},
        notes=("fell back to psync",),
        latencies={"write": histogram, "read": ()},
        parts=tuple(Part(labels, {"rate": 100.0 + n}) for n, labels in enumerate(parts)),
    )


PARTED = replace(IO, part_figures=fixed_figures(RATE))
OPTIONS = IO.options(operation="write")
EVIDENCE = Evidence("%util", "sda", 99.0, "%", "busy 99 % of the time")
LIMITED = Diagnosis((Finding(Bottleneck.DEVICE, "sda", 99.0, Confidence.HIGH, (EVIDENCE,)),))


def test_figures_latencies_and_notes_are_printed(capsys):
    print_result(PARTED, OPTIONS, result(), LIMITED)
    captured = capsys.readouterr()
    assert "64.0   MiB" in captured.out
    assert "write        10.0  10.0  10.0  1000   1000  100" in captured.out
    assert "read" not in captured.out
    assert "write, up to us" in captured.out
    assert "rate" not in captured.out
    limit = "The device sda was the bottleneck: busy 99 % of the time (high confidence)."
    assert limit in captured.out.splitlines()
    assert "note: fell back to psync" in captured.err


def test_potential_of_a_faster_device_is_printed_last(capsys):
    core = Finding(Bottleneck.CORE, "", 99.0, Confidence.HIGH, (EVIDENCE,))
    busy = Evidence("busy", "sda", 6.0, "%", "6 % of the time")
    print_result(PARTED, OPTIONS, result(), Diagnosis((core,), busy=busy))
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("A faster sda saves at most the 6 % of the time ")


def test_a_matrix_is_printed_as_iozone_prints_it(capsys):
    print_result(
        PARTED, OPTIONS, result(cells(["read"], [64 << 10, 1 << 20], [4 << 10, 128 << 10])), LIMITED
    )
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["read"] in lines
    at = lines.index(["file", "\\", "record", "4KiB", "128KiB"])
    assert lines[at + 2 : at + 4] == [["64KiB", "100"], ["1MiB", "101", "102"]]


def test_a_narrow_terminal_shows_whole_numbers_and_names_the_other_columns(monkeypatch):
    screen = Console(file=io.StringIO(), force_terminal=True, width=40, color_system=None)
    monkeypatch.setattr("iostudy.cli.console.out", screen)
    print_result(PARTED, OPTIONS, result(cells(["read"])), LIMITED)
    table, _, others = screen.file.getvalue().partition(" not shown at 40 columns: ")
    assert table.rstrip().splitlines()[-1].split() == ["2MiB", "129", "130", "131", "132"]
    assert others.startswith("64KiB, 128KiB")


def test_other_parts_have_a_line_each(capsys):
    print_result(PARTED, OPTIONS, result(JOBS), LIMITED)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["job", "rate"] in lines
    assert ["7", "107"] in lines


def as_json(of, definition=IO):
    document = build_document(definition, OPTIONS, of, LIMITED).model_dump(mode="json")
    return json.loads(json.dumps(document))


def test_json_contains_all_values():
    document = as_json(result(JOBS), PARTED)
    assert document["figures"]["bandwidth"] == {"value": 512.0, "unit": "MiB/s"}
    assert list(document["latencies_us"]) == ["write"]
    assert document["latencies_us"]["write"]["percentiles"]["p99.9"] == 1000.0
    assert document["latencies_us"]["write"]["histogram"][0] == [0.4, 1]
    assert document["parts"][1] == {
        "labels": {"job": "1"},
        "figures": {"rate": {"value": 101.0, "unit": "KiB/s"}},
    }
    assert document["limited_by"]["limit"] == "device"
    assert document["limited_by"]["findings"][0]["evidence"][0]["value"] == 99.0
    assert document["notes"] == ["fell back to psync"]


@pytest.mark.parametrize("lacking", [True, False])
def test_the_document_has_the_form_of_the_schema(lacking):
    document = as_json(result(JOBS) if lacking else with_requests(REQUESTS), PARTED)
    assert_conforms(document, json_.build_schema(BenchReport))
    assert next(iter(document.items())) == ("schema", "iostudy.bench/1")


def test_a_figure_without_a_bound_is_null():
    unbound = replace(result(), figures={"bandwidth": math.inf}, phases={"run": math.nan})
    document = as_json(unbound)
    assert document["figures"]["bandwidth"] == {"value": None, "unit": "MiB/s"}
    assert document["phases_seconds"] == {"run": None}


@given(BUCKETS.filter(bool))
def test_bars_have_every_power_of_two_and_the_longest_is_full(buckets):
    bars = list(format_bars(merge_buckets(buckets)))
    assert max(len(bar) for _, _, bar in bars) == BAR_LETTERS
    assert bars[0][2]
    assert bars[-1][2]
    uppers = [float(upper) for upper, _, _ in bars]
    assert all(high / low == pytest.approx(2, rel=0.01) for low, high in pairwise(uppers))
    shares = [float(share) for _, share, _ in bars]
    assert sum(shares) == pytest.approx(100, rel=0.02)


READS = Requests(
    count=100,
    mean_us=91.5,
    max_us=240.0,
    latencies_us=((64.0, 60), (128.0, 39), (250.0, 1)),
    sizes=((4096, 60), (131072, 40)),
)
FLUSHES = Requests(2, 300.0, 301.0, ((301.0, 2),), ((0, 2),))
REQUESTS = BlockRequests(
    {"sda": {"read": READS, "flush": FLUSHES}},
    events=204,
    lost=6,
    unmatched=3,
    reader_cpu_seconds=0.01,
)


def with_requests(requests: BlockRequests) -> TrialResult:
    plain = result()
    summary = replace(plain.telemetry.summary, requests=requests)
    return replace(plain, telemetry=replace(plain.telemetry, summary=summary))


def test_requests_of_the_block_layer_are_printed_with_what_was_lost(capsys):
    print_result(IO, OPTIONS, with_requests(REQUESTS), LIMITED)
    captured = capsys.readouterr()
    lines = [line.split() for line in captured.out.splitlines()]
    assert ["sda", "read", "91.5", "64.0", "128", "128", "240", "240"] in lines
    assert ["sda", "read", "100", "53.6", "4.00", "128"] in lines
    assert ["read", "of", "sda,", "up", "to", "KiB", "share,", "%"] in lines
    assert ["flush", "of", "sda,", "up", "to", "us", "share,", "%"] in lines
    assert "flush of sda, up to KiB" not in captured.out
    assert "note: 6 of 210 events" in captured.err


def test_the_screen_has_traced_requests_and_the_notes(capsys):
    routine = "dirty pages written out before every trial"
    fallback = replace(result(), notes=(routine, *result().notes))
    print_screen(IO, OPTIONS, fallback, LIMITED)
    plain = capsys.readouterr()
    assert "requests of" not in plain.out
    assert plain.err == "note: fell back to psync\n"
    print_screen(IO, OPTIONS, with_requests(REQUESTS), LIMITED)
    captured = capsys.readouterr()
    lines = [line.split() for line in captured.out.splitlines()]
    assert ["sda", "read", "91.5", "64.0", "128", "128", "240", "240"] in lines
    assert ["read", "of", "sda,", "up", "to", "us", "share,", "%"] in lines
    assert lines[-1][:5] == ["one", "run", "has", "no", "error"]
    assert "note: fell back to psync\nnote: 6 of 210 events" in captured.err


@pytest.mark.parametrize("show", [print_result, print_screen])
def test_missing_requests_are_reported(capsys, show):
    show(IO, OPTIONS, with_requests(BlockRequests({}, 0, 0, 0, 0.0)), LIMITED)
    captured = capsys.readouterr()
    assert "requests of" not in captured.out
    assert "note: no request was recorded" in captured.err


def test_json_has_requests_only_if_traced():
    assert as_json(result())["block_requests"] is None
    assert as_json(with_requests(REQUESTS))["block_requests"] == {
        "devices": {
            "sda": {
                "read": {
                    "count": 100,
                    "latency_us": {
                        "mean": 91.5,
                        "percentiles": {
                            "p50": 64.0,
                            "p95": 128.0,
                            "p99": 128.0,
                            "p99.9": 240.0,
                            "max": 240.0,
                        },
                        "histogram": [[64.0, 60], [128.0, 39], [250.0, 1]],
                    },
                    "size_bytes": [[4096, 60], [131072, 40]],
                },
                "flush": {
                    "count": 2,
                    "latency_us": {
                        "mean": 300.0,
                        "percentiles": dict.fromkeys(("p50", "p95", "p99", "p99.9", "max"), 301.0),
                        "histogram": [[301.0, 2]],
                    },
                    "size_bytes": [[0, 2]],
                },
            }
        },
        "events": 204,
        "lost_events": 6,
        "unmatched_events": 3,
        "reader_cpu_seconds": 0.01,
    }
