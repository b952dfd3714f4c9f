"""Tests of progress output on stderr, on a terminal and in a pipe."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from iostudy.cli import console, progress
from iostudy.errors import SettingError
from iostudy.execution.listeners import Listener
from iostudy.execution.session import prepare_session
from tests.cli.screen import Screen
from tests.fake_node import Disturbance, FakeNode
from tests.study.files import parse_once

TEXT = """
question: Which?
target: /tmp
factors: {block.scheduler: [none, bfq]}
workloads: [{io: {label: file-writes, operation: write}}]
decide: {margin: 3%, risk: 5%, blocks: [5, 8]}
"""
WIDE = TEXT.replace(
    "{block.scheduler: [none, bfq]}",
    "{block.scheduler: [none, bfq, kyber], block.read_ahead_kb: [128, 256, 512]}",
).replace(
    "[{io: {label: file-writes, operation: write}}]",
    "[{io: {label: file-writes, operation: write}}, {io: {label: file-reads}}]",
)
FEWEST = "blocks: [5, 8]"
ALL_BLOCKS = TEXT.replace(FEWEST, "blocks: [8, 8]")
"""A single analysis, so that no comparison ends before."""


class ScreenListener(Listener):
    """Keeps what the screen showed when each trial began."""

    def __init__(self, file: io.StringIO) -> None:
        self.file = file
        self.screen = Screen()
        self.read = 0
        self.texts: list[str] = []

    def trial_began(self, row, trials):
        self.screen.write(self.file.getvalue()[self.read :])
        self.read = len(self.file.getvalue())
        self.texts.append(self.screen.text())


def show(folder, monkeypatch, *, terminal, text=TEXT, script=None, effects=None, height=24):
    """Everything that was written, and the watched screen; also what another command prints."""
    screen = Console(
        file=io.StringIO(),
        force_terminal=terminal,
        force_interactive=terminal,
        width=80 if terminal else 120,
        height=height,
        highlight=False,
    )
    monkeypatch.setattr(console, "err", screen)
    monkeypatch.setattr(progress, "err", screen)
    study = parse_once(text)
    node = FakeNode(noise=0.06, script=script or {}, effects=effects or {})
    watched = ScreenListener(screen.file)
    with progress.show_progress() as listening:
        prepare_session(study, folder, root=True, resume=False).execute(
            node, seed=1, listeners=[listening, watched]
        )
    return screen.file.getvalue(), watched.texts


def left_over(text):
    screen = Screen()
    screen.write(text)
    return screen.text()


STOLEN = {1: Disturbance(steal=0.9)}
LIMITED = TEXT + "validity: {steal: 5%}\n"


@pytest.fixture(autouse=True)
def pauses(monkeypatch):
    """No time passes in the pauses between attempts."""
    monkeypatch.setattr("iostudy.execution.runner.time.sleep", lambda seconds: None)


@pytest.fixture(params=[True, False], ids=["terminal", "plain"], scope="module")
def stays(request, tmp_path_factory):
    """What is still to be read when the study is over."""
    folder, terminal = tmp_path_factory.mktemp("stays"), request.param
    with pytest.MonkeyPatch.context() as replaced:
        replaced.setattr("iostudy.execution.runner.time.sleep", lambda seconds: None)
        text, _ = show(folder, replaced, terminal=terminal, text=LIMITED, script=STOLEN)
    return left_over(text).replace("\n", "") if terminal else text


def test_total_stays_on_the_progress_line(stays):
    assert "study: 2 configurations x 1 workload, up to 8 blocks, seed 1" in stays


def test_repeated_block_is_reported_with_its_reason(stays):
    assert "attempt 1 does not count" in stays
    assert "the hypervisor took 90 %" in stays
    assert "waiting 5.0 s for a quieter machine" in stays


def test_given_up_workload_is_reported_with_its_reason(tmp_path, monkeypatch):
    script = {n: Disturbance(steal=0.9) for n in range(3)}
    text, _ = show(tmp_path, monkeypatch, terminal=False, text=LIMITED, script=script)
    assert "file-writes is given up in block 1: none of 3 attempts counts" in text


def test_detectable_effect_is_printed_once(stays):
    assert stays.count("may stay inconclusive in 8 blocks") == 1


def test_off_a_terminal_there_is_a_line_a_block_with_the_time_left(tmp_path, monkeypatch):
    text, _ = show(tmp_path, monkeypatch, terminal=False, text=ALL_BLOCKS)
    assert text.splitlines()[0] == "checking that the host takes 2 configurations"
    for block in range(1, 9):
        assert text.count(f"block {block}/8 file-writes:") == 1
    assert text.splitlines()[-1].endswith("at most 0 ms left")
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        (
            "hadoop.dfs.datanode.handler.count: [10, 20]",
            ", with a restart of the cluster's daemons",
        ),
        ("block.scheduler: [none, bfq]", ""),
    ],
)
@pytest.mark.all_plugins
def test_cost_of_preflight_is_printed(tmp_path, monkeypatch, factor, message):
    on_hadoop = TEXT.replace("{io: {label: file-writes, operation: write}}", "hadoop.mrbench")
    text, _ = show(
        tmp_path,
        monkeypatch,
        terminal=False,
        text=on_hadoop.replace("block.scheduler: [none, bfq]", factor),
    )
    for_each = f"{message} for each" if message else ""
    assert text.splitlines()[0] == f"checking that the host takes 2 configurations{for_each}"


def test_a_terminal_shows_which_trial_it_is(tmp_path, monkeypatch):
    _, texts = show(tmp_path, monkeypatch, terminal=True, text=LIMITED, script=STOLEN)
    assert re.search(r"^block 1/8 file-writes: trial 1 of 2: (none|bfq)$", texts[0], re.MULTILINE)
    assert "block 1/8 file-writes, attempt 2: trial 1 of 2: " in texts[2]
    status = r"trials; at most .* left; .*\nblock 2/8 file-writes: trial 2 of 2: \w+\n"
    assert re.search(status, texts[5])


def test_without_room_for_comparisons_each_workload_has_a_line(tmp_path, monkeypatch):
    effects = {"scheduler=kyber, read_ahead_kb=512": 4.0}
    _, texts = show(
        tmp_path,
        monkeypatch,
        terminal=True,
        text=WIDE.replace(FEWEST, "blocks: [4, 8]"),
        effects=effects,
        height=12,
    )
    status, trial, *workloads = texts[-1].splitlines()[-4:]
    assert re.fullmatch("trials; at most .* left; host quiet: steal 0 %", status)
    assert re.match(r"block \d/8 file-", trial)
    for label, line in zip(("file-writes", "file-reads"), workloads, strict=True):
        assert re.match(label + r": 1 of 8 decided \(1 better\); best: \d\.\d\d x ", line)


def test_the_live_lines_are_drawn_in_place_and_leave_nothing_behind(tmp_path, monkeypatch):
    text, texts = show(
        tmp_path, monkeypatch, terminal=True, text=WIDE.replace(FEWEST, "blocks: [3, 3]")
    )
    assert {shown.count(": trial ") for shown in texts} == {1}
    assert {shown.count("measuring:") for shown in texts} == {1}
    assert "trial" not in left_over(text)
    assert "measuring" not in left_over(text)


def test_more_workloads_than_lines_are_counted(tmp_path, monkeypatch):
    workloads = ", ".join(f"{{io: {{operation: write, label: w{n}}}}}" for n in range(9))
    text = TEXT.replace("[{io: {label: file-writes, operation: write}}]", f"[{workloads}]")
    text = text.replace(FEWEST, "blocks: [3, 3]")
    written, texts = show(tmp_path, monkeypatch, terminal=True, text=text, height=6)
    assert texts[-1].splitlines()[-1] == "and 7 workloads more"
    assert "decided" not in left_over(written)


SEARCHING = """
question: Which?
target: /tmp
search:
  parameters: {block.read_ahead_kb: {from: 64, to: 4096, scale: log}}
  budget: 14 trials
workloads: [{io: {label: file-writes, operation: write}}]
"""


class ReadAheadNode(FakeNode):
    """More read-ahead is better; the kernel takes none above 2 MiB."""

    def run(self, request, configuration):
        ahead = configuration.settings["block.read_ahead_kb"]
        self.effects = {configuration.label: 0.0 if ahead == "as-found" else int(ahead) / 4096}
        return super().run(request, configuration)

    def preflight(self, requests, configurations):
        error = SettingError("to set it", found="EINVAL", where="/sys", remedy="another")
        return {c.label: error for c in configurations if c.label.isdigit() and int(c.label) > 2048}


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.all_plugins
def test_search_prints_candidates_leader_and_budget(tmp_path, monkeypatch, terminal):
    monkeypatch.setattr("tests.cli.test_progress.FakeNode", ReadAheadNode)
    text, texts = show(tmp_path, monkeypatch, terminal=terminal, text=SEARCHING)
    assert "study: a search of 1 parameter for 14 trials, 1 workload, seed 1" in text
    assert re.search(r"left out: \d+: to set it: EINVAL", text)
    shown = texts[-1] if terminal else text
    assert re.search(r"candidates, \d+ of 14 trials; ahead: \+\d+\.\d % after \d round", shown)
    assert ("round 3 file-writes: trial" if terminal else "round 1 file-writes: ") in shown
