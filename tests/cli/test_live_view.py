"""Tests of the live lines of a running study: intervals, verdicts, phase, host."""

from __future__ import annotations

import io
import math
import re
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from iostudy.analysis.verdict import Verdict
from iostudy.cli import console, progress
from iostudy.cli.comparison_lines import ComparisonTable
from iostudy.cli.progress import HostCondition, LiveView
from iostudy.execution.listeners import Listener
from iostudy.execution.session import prepare_session
from iostudy.execution.switchback.runner import CONFIRMATION_BLOCKS as CONFIRMED
from iostudy.report import bars
from iostudy.results.comparisons import compare_configurations
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.workloads import catalog
from iostudy.workloads.native.io import Io
from tests.cli.screen import Screen
from tests.cli.test_progress import LIMITED, TEXT, WIDE, ScreenListener, left_over
from tests.fake_node import Disturbance, FakeNode
from tests.report.factory import factor, rows, study
from tests.study.files import parse_once

WINDOWS = """
question: Which?
target: /tmp
factors: {block.scheduler: [none, mq-deadline, noop]}
workloads:
  - io: {operation: read, order: random, record_size: 4KiB, size: 64MiB, duration: 1s}
decide: {margin: 5%, risk: 5%, mode: auto}
"""
BAR = 21
MARKS = "     ┊    │    ┊     "


@pytest.fixture
def steady(monkeypatch):
    definition = replace(catalog.get("io"), window_figures=lambda _: ("iops", "bandwidth"))
    monkeypatch.setattr(catalog, "get", lambda name: definition)
    monkeypatch.setattr(Io, "unsteady_reason", lambda self: "")


class Frames(ScreenListener):
    """Keeps what the screen showed after each event."""

    def windows_measured(self, request, progress):
        self.trial_began(None, 0)

    def block_ended(self, progress):
        self.trial_began(None, 0)


def show(folder, monkeypatch, text, node, *, width=80, resume=False, also=()):
    """What was written, and the screen after each event."""
    screen = Console(
        file=io.StringIO(),
        force_terminal=True,
        force_interactive=True,
        width=width,
        height=40,
        highlight=False,
    )
    monkeypatch.setattr(console, "err", screen)
    monkeypatch.setattr(progress, "err", screen)
    study = parse_once(text)
    frames = Frames(screen.file)
    frames.screen = Screen(width, 40)
    with progress.show_progress() as listening:
        prepare_session(study, folder, root=True, resume=resume).execute(
            node,
            seed=None if resume else 1,
            listeners=[listening, *also, frames],
        )
    return screen.file.getvalue(), frames.texts


@pytest.mark.parametrize(
    ("low", "high", "bar"),
    [
        (-0.5, 0.5, "     ┊  ──┼──  ┊     "),
        (-1.6, -1.2, "  ───┊    │    ┊     "),
        (1.0, 1.6, "     ┊    │    ┼───  "),
        (-9.0, 1.2, "◀────┼────┼────┼─    "),
        (-9.0, -5.0, "◀    ┊    │    ┊     "),
        (3.0, 9.0, "     ┊    │    ┊    ▶"),
        (-math.inf, math.inf, MARKS),
        (math.nan, math.nan, MARKS),
    ],
)
def test_interval_is_drawn_in_margins(low, high, bar):
    assert bars.format_interval_bar(low, high, BAR, final=False) == bar


def test_final_intervals_have_a_heavy_line():
    assert bars.format_interval_bar(-0.5, 0.5, BAR, final=True) == "     ┊  ━━┿━━  ┊     "


@pytest.mark.parametrize(("margin", "label"), [(0.05, "-5 %"), (0.025, "-2.5 %")])
def test_axis_names_the_marks(margin, label):
    axis = bars.format_interval_axis(margin, BAR)
    assert len(axis) == BAR
    assert axis.index("0", axis.index("%")) == MARKS.index("│")
    start = axis.index(label)
    assert start <= MARKS.index("┊") < start + len(label)


def test_trials_show_the_interval_the_verdict_and_the_blocks(tmp_path, monkeypatch):
    node = FakeNode(noise=0.01, effects={"bfq": -0.2})
    _, frames = show(tmp_path, monkeypatch, TEXT.replace("[none, bfq]", "[none, bfq, kyber]"), node)
    measuring, final = frames[0], frames[-1]
    assert re.search(r"^bfq .*┊.* measuring +0/8$", measuring, re.MULTILINE)
    assert "measuring: the interval is interim, not final; against none" in measuring
    assert re.search(r"^bfq +◀.* -\d+\.\d % \[.*\] ▼ worse +\d$", final, re.MULTILINE)
    assert re.search(r"-3 % +0 +\+3 %", final)


def test_failed_runs_leave_no_change() -> None:
    plan = study(factor("block.scheduler", "none", "bfq"), workloads=["file-writes"])
    trials = [
        replace(row, figures={}) if row.configuration == "bfq" and row.block % 3 else row
        for row in rows(plan, blocks=20)
    ]
    lines = [
        line.plain
        for line in ComparisonTable(plan, compare_configurations(plan, trials)).lines(120)
    ]
    assert "▼ worse" in lines[1]
    assert "%" not in lines[1], "neither nan nor a loss of 100 %"


def test_the_tutorial_shows_its_study_as_it_runs(tmp_path, monkeypatch):
    page = Path("docs/tutorial.md").read_text()
    (example,) = re.findall(r"^```yaml\n(question:.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (shown,) = re.findall(r"^A terminal shows the study.*\n\n((?: {4}.*\n)+)", page, re.MULTILINE)
    first, *lines = textwrap.dedent(shown).splitlines()
    text = example.replace("target: .", "target: /tmp").replace("direct: true", "direct: false")
    node = FakeNode(noise=0.02, effects={"64KiB": -0.1})
    _, frames = show(tmp_path, monkeypatch, text, node)
    assert "\n".join(lines) in "\n".join(frames)
    assert first.startswith("trials; at most ")


def test_interim_intervals_are_labelled_until_every_verdict(tmp_path, monkeypatch):
    node = FakeNode(noise=0.001, effects={"bfq": -0.2})
    _, frames = show(tmp_path, monkeypatch, TEXT, node)
    for frame in frames:
        assert ("─" in frame) <= ("interim, not final" in frame)
        assert ("━" in frame) <= ("▼ worse" in frame)
    assert "interim" not in frames[-1]
    assert frames[-1].endswith("bfq against none")


def test_every_line_fits_80_columns(tmp_path, monkeypatch):
    _, frames = show(tmp_path, monkeypatch, WIDE.replace("[5, 8]", "[4, 5]"), FakeNode(noise=0.1))
    lines = [line for frame in frames for line in frame.splitlines() if "measuring  " in line]
    assert lines
    assert all(len(line) <= 80 for line in lines)
    assert any("  scheduler=kyber, read_ahead_kb=512 " in line for line in lines)


def test_wide_terminals_show_label_and_interval(tmp_path, monkeypatch):
    text = WIDE.replace("[5, 8]", "[4, 5]")
    _, frames = show(tmp_path, monkeypatch, text, FakeNode(noise=0.01), width=120)
    whole = r"^  scheduler=kyber, read_ahead_kb=512 +\S.* % \[.*\] \S.*\d$"
    assert re.search(whole, frames[-1], re.MULTILINE)


def test_windows_show_phase_blocks_and_time_left(tmp_path, monkeypatch, steady):
    node = FakeNode(effects={"noop": -0.2}, noise=0.02, base=20_000)
    text, frames = show(tmp_path, monkeypatch, WINDOWS, node)
    assert "io: windows of 40 ms after a washout of" in text
    quiet = r"^windows; at most .* left(; host quiet: steal 0 %)?$"
    first, *others = (own for own in frames if re.search(quiet, own, re.MULTILINE))
    assert re.search(r"^0 of \d+ blocks of io$", first, re.MULTILINE)
    measuring = r"^mq-deadline .* measuring +\d/96$"
    assert any(re.search(measuring, own, re.MULTILINE) for own in others)
    assert any(re.search(r"^noop +◀.* ▼ worse +\d+$", own, re.MULTILINE) for own in frames)
    assert "windows; at most" not in left_over(text).splitlines()[-1]


def test_time_left_includes_later_workloads(tmp_path, monkeypatch, steady):
    class RemainingTimeListener(Listener):
        def __init__(self):
            self.left = {}

        def windows_measured(self, request, progress):
            self.left.setdefault(request.label, []).append(progress.seconds_left)

        def block_ended(self, progress):
            if progress.blocks != CONFIRMED:
                assert progress.seconds_left == self.left[progress.block.workload][-1]

    second = WINDOWS.replace("duration: 1s}", "duration: 1s}\n  - io: {label: b, duration: 1s}")
    left = RemainingTimeListener()
    show(tmp_path, monkeypatch, second, FakeNode(noise=0.02, base=20_000), also=[left])
    assert list(left.left) == ["io", "b"]
    assert min(left.left["io"]) > left.left["b"][0]


def test_confirmation_keeps_the_verdicts(tmp_path, monkeypatch, steady):
    node = FakeNode(effects={"mq-deadline": 0.2}, noise=0.02, base=20_000)
    _, frames = show(tmp_path, monkeypatch, WINDOWS, node)
    status = r"^confirmation by whole trials; .*\nblock \d/5 io: trial \d of \d: .*$"
    own = [frame for frame in frames if re.search(status, frame, re.MULTILINE)]
    assert own
    assert all("▲ better" in frame for frame in own)


def test_resumed_study_shows_what_is_known(tmp_path, monkeypatch):
    class InterruptingListener(Listener):
        def block_ended(self, progress):
            if progress.block.index == 3:
                raise KeyboardInterrupt

    node = FakeNode(noise=0.06)
    with pytest.raises(KeyboardInterrupt):
        show(tmp_path, monkeypatch, TEXT, node, also=[InterruptingListener()])
    _, frames = show(tmp_path, monkeypatch, TEXT, node, resume=True)
    assert re.search(r"measuring +3/8$", frames[0], re.MULTILINE)


def test_given_up_workload_is_not_measuring(tmp_path, monkeypatch):
    monkeypatch.setattr("iostudy.execution.runner.time.sleep", lambda seconds: None)
    text = LIMITED.replace(
        "[{io: {label: file-writes, operation: write}}]",
        "[{io: {label: file-writes, operation: write}}, {io: {label: file-reads}}]",
    )
    script = {n: Disturbance(steal=0.9) for n in range(3)}
    _, frames = show(tmp_path, monkeypatch, text, FakeNode(noise=0.06, script=script))
    assert re.search(r"^file-\w+ .* given up ", frames[-1], re.MULTILINE)


def summary(seconds, **machine):
    names = {"steal": "%steal", "cpu": "foreign_%cpu"}
    own = {names[name]: value for name, value in machine.items()}
    return TelemetrySummary(seconds=seconds, devices={}, machine={**own, "cores": 2.0})


def test_host_is_disturbed_above_the_margin():
    host = HostCondition()
    assert host.describe(0.05) == ""
    host.add(summary(1.0, steal=0.0, cpu=2.0))
    assert host.describe(0.05) == "host quiet: foreign CPU 1 %"
    host.add(summary(3.0, steal=16.0, cpu=2.0))
    assert host.describe(0.05) == "host disturbed: steal 12 %"
    assert host.describe(0.20) == "host quiet: steal 12 %"


def table(text=TEXT, figures=()):
    study = parse_once(text)
    return ComparisonTable(study, compare_configurations(study, figures))


def drawn(view, *, width=80, height=24, encoding="utf-8", color_system=None, no_color=None):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    screen = Console(
        file=stream,
        force_terminal=True,
        width=width,
        height=height,
        color_system=color_system,
        no_color=no_color,
    )
    screen.print(view)
    stream.flush()
    return raw.getvalue().decode(encoding)


def test_other_encodings_get_ascii_of_the_same_width():
    view = LiveView("trials ≥ é", table=table())
    text = drawn(view, width=60, encoding="ascii")
    marks = next(line for line in text.splitlines() if "measuring  " in line)
    assert ": " in marks
    assert "|" in marks
    long = drawn(LiveView("≥" * 100), width=60, encoding="ascii").strip()
    assert long == ">=" * 30


@pytest.mark.parametrize("no_color", [True, False])
def test_colour_is_left_out_on_request(tmp_path, no_color):
    node = FakeNode(noise=0.001, effects={"bfq": -0.2})
    study = parse_once(TEXT)
    final = prepare_session(study, tmp_path, root=True, resume=False).execute(
        node, seed=1, listeners=[]
    )
    assert final[0].comparison.verdict is Verdict.WORSE
    view = LiveView("trials", table=ComparisonTable(study, final))
    text = drawn(view, no_color=no_color, color_system="standard")
    assert ("\x1b[31m" in text) is not no_color
    assert "▼ worse" in text


def test_each_drawing_uses_the_size_of_its_moment():
    view = LiveView("trials", detail="x" * 200, table=table())
    for width in (120, 60, 40, 80):
        lines = drawn(view, width=width).splitlines()
        assert max(map(len, lines)) == width
        assert len(lines) == 5
    assert len(drawn(view, height=5).splitlines()) <= 4
