"""The report on a fleet: what is refused, what is said, and in which forms."""

from __future__ import annotations

import io
import json
import math
import random
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from iostudy.analysis.verdict import Verdict
from iostudy.errors import UsageError
from iostudy.report.render import html, json_, markdown, terminal
from iostudy.report.section import Chart
from iostudy.results.recorded_study import RecordedStudy
from iostudy_fleet.pooling import fleet_rule
from iostudy_fleet.report import build
from iostudy_fleet.report.build import build_fleet_report
from iostudy_fleet.report.charts import MEAN, NEW_NODE
from iostudy_fleet.report.document import build_fleet_document
from iostudy_fleet.report.values import FleetReport
from tests.json_schema import assert_conforms
from tests.report.factory import STARTED_AT, rows, study_row
from tests.report.vega_lite import require_valid
from tests.study.files import parse_once

TEXT = """\
question: Which scheduler for our nodes?
target: {scratch: {device: /dev/sdb}}
factors: {block.scheduler: [none, bfq]}
workloads: [{dfsio-write: {files: 2, size: 256MiB}}]
decide: {margin: 3%, risk: 5%, blocks: [5, 20]}
"""


def node(
    number: int,
    *,
    text: str = TEXT,
    speed: float = 1.0,
    effect: float = -0.1,
    blocks: int = 20,
    host: Mapping[str, object] | None = None,
) -> RecordedStudy:
    """A finished study of one node, with differences between nodes of 2 % and 1 %."""
    of = parse_once(text)
    draw = random.Random(number)
    base = 400 * speed * math.exp(draw.gauss(0, 0.02))
    own = {"none": 0.0, "bfq": math.log1p(effect) + draw.gauss(0, 0.01)}
    found = []
    for row in rows(of, blocks=blocks, effects={}):
        value = base * math.exp(own.get(row.configuration, 0.0) + draw.gauss(0, 0.01))
        found.append(replace(row, figures={**(row.figures or {}), "aggregate": value}))
    circumstances = {"host": {"hostname": f"node{number:02}", **(host or {})}}
    row = replace(study_row(of, circumstances), seed=number, started_at=STARTED_AT + number)
    return RecordedStudy(f"results/{number:02}", of, row, tuple(found))


def fleet(count: int = 6, **slow: float) -> list[RecordedStudy]:
    return [node(number, speed=slow.get(f"node{number:02}", 1.0)) for number in range(count)]


@cache
def fleet_report(count: int = 6, **slow: float) -> FleetReport:
    return build_fleet_report(fleet(count, **slow))


def texts(report: FleetReport) -> dict[str, str]:
    document, file = build_fleet_document(report, {}), io.StringIO()
    Console(file=file, width=250).print(terminal.render_document(document))
    return {
        "terminal": file.getvalue(),
        "markdown": markdown.render_document(document),
        "html": html.render_page("fleet", document),
    }


def layer_rows(chart: Chart, layer: int) -> list[dict[str, Any]]:
    """The data of a layer."""
    name = chart.spec["layer"][layer]["data"]["name"]
    found: list[dict[str, Any]] = chart.spec["datasets"][name]
    return found


def test_one_slow_disk_of_ten_comes_first_in_every_form() -> None:
    report = fleet_report(10, node07=0.6)
    assert report.headline.startswith("On 10 nodes, bfq is worse than none: -")
    assert report.headline.endswith("node07 is odd.")
    first, *others = report.nodes
    assert first.node == "node07"
    (odd,) = first.odd
    assert (odd.workload, odd.configuration) == ("dfsio-write", "none")
    assert odd.change == pytest.approx(-0.4, abs=0.03)
    assert all(each.odd == () for each in others)
    for text in texts(report).values():
        assert "its figure differs by -" in text
        assert text.index("Odd nodes") < text.index("Changes against none")


def test_every_figure_is_pooled_and_the_further_ones_are_named() -> None:
    text = TEXT.replace("size: 256MiB}", "size: 256MiB, figure: [aggregate, exec_time]}")
    sides = [node(number, text=text) for number in range(4)]
    guarded = [
        replace(
            side,
            rows=tuple(
                replace(row, figures={**(row.figures or {}), "exec_time": 1.0 + 0.01 * row.block})
                for row in side.trials
            ),
        )
        for side in sides
    ]
    report = build_fleet_report(guarded)
    assert [(own.workload, own.mean.verdict) for own in report.comparisons] == [
        ("dfsio-write", Verdict.WORSE),
        ("exec_time of dfsio-write", Verdict.EQUIVALENT),
    ]
    assert [own.figure.name for own in report.baselines] == ["aggregate", "exec_time"]
    assert [own.verdicts[Verdict.EQUIVALENT] for own in report.comparisons] == [0, 4]
    assert report.headline.startswith("Of 2 comparisons on 4 nodes: 1 equivalent and 1 worse.")
    assert "exec_time of dfsio-write by node" in texts(report)["markdown"]


def test_the_nodes_own_verdicts_are_those_of_their_reports() -> None:
    report = fleet_report()
    (comparison,) = report.comparisons
    assert comparison.verdicts == {
        **dict.fromkeys(Verdict, 0),
        Verdict.WORSE: 6,
    }
    assert all(each.finished for each in report.nodes)
    assert report.caveats == ()
    assert comparison.mean.interval is not None
    assert comparison.new_node.interval is not None
    assert comparison.new_node.interval.low < comparison.mean.interval.low


def test_the_forest_plot_has_every_node_the_mean_and_one_more_node() -> None:
    document = build_fleet_document(fleet_report(), {})
    (section,) = (own for own in document.sections if own.name == "comparisons")
    (chart,) = section.charts
    names = [row["configuration"] for row in layer_rows(chart, -1)]
    assert sorted(names[:6]) == [f"node{number:02}" for number in range(6)]
    assert names[6:] == [MEAN, NEW_NODE]
    require_valid(chart.spec)


def test_the_heat_map_has_a_cell_for_each_node_and_configuration() -> None:
    document = build_fleet_document(fleet_report(10, node07=0.6), {})
    (section,) = (own for own in document.sections if own.name == "figures-1")
    (chart,) = section.charts
    cells = layer_rows(chart, 0)
    assert len(cells) == 20
    slow = [cell for cell in cells if cell["node"] == "node07"]
    assert {cell["side"] for cell in slow} == {"worse"}
    assert min(cell["strength"] for cell in slow) > 0.5
    require_valid(chart.spec)


def test_devices_of_the_target_may_differ_by_node() -> None:
    other = TEXT.replace("/dev/sdb", "/dev/nvme1n1") + "seed: 5\n"
    assert len(build_fleet_report([node(1), node(2, text=other)]).nodes) == 2


def test_names_of_compared_directories_count_and_their_paths_do_not() -> None:
    mounts = "{directories: {local: /mnt/a, shared: /mnt/b}}"
    text = TEXT.replace("{scratch: {device: /dev/sdb}}", mounts).replace(
        "{block.scheduler: [none, bfq]}", "{target.directory: [local, shared]}"
    )
    moved, renamed = text.replace("/mnt/a", "/data"), text.replace("shared", "remote")
    build_fleet_report([node(1, text=text), node(2, text=moved)])
    with pytest.raises(UsageError, match="target"):
        build_fleet_report([node(1, text=text), node(2, text=renamed)])


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("none, bfq", "none, mq-deadline", "factors"),
        ("files: 2", "files: 4", "workloads"),
        ("margin: 3%", "margin: 4%", "decide"),
        ("{scratch: {device: /dev/sdb}}", "{loopback: {size: 1GiB}}", "target"),
    ],
)
def test_another_study_is_refused_with_what_differs(before: str, after: str, what: str) -> None:
    other = node(2, text=TEXT.replace(before, after))
    with pytest.raises(UsageError) as error:
        build_fleet_report([node(1), other])
    assert error.value.found == f"another {what} than in results/01"
    assert error.value.where == "results/02"


def test_a_copy_of_a_run_is_no_node() -> None:
    copied = replace(node(1), place="results/copy")
    with pytest.raises(UsageError, match="the same run as in results/01"):
        build_fleet_report([node(1), node(2), copied])


def test_a_single_folder_is_no_fleet() -> None:
    with pytest.raises(UsageError, match="at least 2"):
        build_fleet_report([node(1)])


def test_a_search_is_refused() -> None:
    searched = TEXT.replace(
        "factors: {block.scheduler: [none, bfq]}",
        "search: {parameters: {block.read_ahead_kb: {from: 128, to: 4096}}, budget: 60 trials}",
    ).replace("decide: {margin: 3%, risk: 5%, blocks: [5, 20]}\n", "")
    with pytest.raises(UsageError, match="a search"):
        build_fleet_report([node(1, text=searched, blocks=0), node(2, text=searched, blocks=0)])


def test_another_baseline_is_refused() -> None:
    other = node(2)
    left_out = other.study.without({"none": "not offered"})
    with pytest.raises(UsageError, match="bfq"):
        build_fleet_report([node(1), replace(other, study=left_out)])


def test_one_host_twice_is_a_caveat_and_folders_name_the_nodes() -> None:
    report = build_fleet_report([node(n, host={"hostname": "localhost"}) for n in range(6)])
    assert [each.node for each in report.nodes] == [f"0{n}" for n in range(6)]
    assert "Several folders have the host name localhost" in report.caveats[0]


def test_a_lost_node_counts_with_the_blocks_it_finished() -> None:
    report = build_fleet_report([*fleet(5), node(5, blocks=4)])
    (comparison,) = report.comparisons
    assert comparison.nodes == 6
    assert "Unfinished studies: node05." in " ".join(report.caveats)


def test_a_terminal_of_80_columns_shows_every_verdict() -> None:
    document, file = build_fleet_document(fleet_report(), {}), io.StringIO()
    Console(file=file, width=80).print(terminal.render_document(document))
    comparisons = file.getvalue().partition("by node")[0]
    assert "not shown" not in comparisons
    assert comparisons.count("worse by ≥ margin") == 2
    table = comparisons.partition("Changes against")[2]
    assert re.search(r"-10\.\d % \[-\d+\.\d, -\d\.\d\]", table)


def test_few_nodes_are_a_caveat() -> None:
    assert "3 nodes hardly show" in fleet_report(3).caveats[0]


def test_after_one_block_each_no_node_is_tested_for_being_odd() -> None:
    report = build_fleet_report([node(number, blocks=1) for number in range(4)])
    assert any(caveat.startswith("Odd nodes were not tested") for caveat in report.caveats)
    *_, nodes = build_fleet_document(report, {}).sections
    assert {row[1] for row in nodes.tables[0].rows} == {"not tested"}
    assert not any("not tested" in caveat for caveat in fleet_report(3).caveats)


def test_nodes_without_a_common_block_have_no_comparison() -> None:
    report = build_fleet_report([node(1, blocks=0), node(2)])
    assert report.headline.startswith("No comparison: fewer than two of 2 nodes have finished")
    assert report.comparisons == ()
    texts(report)


def test_finished_nodes_without_a_common_configuration_have_finished() -> None:
    text = TEXT.replace("none, bfq", "none, bfq, kyber")
    sides = [node(number, text=text) for number in (1, 2)]
    refused = [
        replace(side, study=side.study.without({label: "not offered"}))
        for side, label in zip(sides, ("bfq", "kyber"), strict=True)
    ]
    report = build_fleet_report(refused)
    assert report.headline.startswith("No comparison: 2 of 2 nodes have finished a block, but no")
    assert "node01 has no bfq: not offered" in report.caveats
    assert report.comparisons == ()


def firmware_fleet() -> list[RecordedStudy]:
    """Ten nodes with two versions of a firmware, of which one has a larger effect."""

    def disks(firmware: str) -> dict[str, object]:
        return {"block_devices": {"sdb": {"model": "ACME", "firmware": firmware}}}

    sides = [
        node(n, effect=-0.1 if n < 5 else -0.3, host=disks("1.0" if n < 5 else "2.0"))
        for n in range(10)
    ]
    return [
        replace(
            side,
            row=replace(
                side.row,
                circumstances={**side.row.circumstances, "target": {"devices": ["sdb"]}},
            ),
        )
        for side in sides
    ]


def test_classes_of_firmware_are_reported() -> None:
    report = build_fleet_report(firmware_fleet())
    (found,) = report.classes
    assert found.traits == ("disk firmware",)
    assert [round(each.change or 0, 1) for each in found.classes] == [-0.1, -0.3]
    assert "disk firmware: 2.0" in texts(report)["markdown"]


def test_the_bias_of_windows_widens_the_intervals_of_classes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def intervals() -> list[tuple[float, float]]:
        (found,) = build_fleet_report(firmware_fleet()).classes
        spans = [member.interval for member in found.classes]
        return [(math.log1p(own.low), math.log1p(own.high)) for own in spans if own is not None]

    plain = intervals()
    monkeypatch.setattr(build, "fleet_rule", lambda nodes: replace(fleet_rule(nodes), bias=0.01))
    assert len(plain) == 2
    for (low, high), wide in zip(plain, intervals(), strict=True):
        assert wide == pytest.approx((low - 0.01, high + 0.01))


def test_hostile_host_names_are_text() -> None:
    hostile = "<script>alert(1)</script>"
    report = build_fleet_report([node(1, host={"hostname": hostile}), node(2)])
    assert hostile not in texts(report)["html"]


def test_json_conforms_to_its_schema() -> None:
    document = json.loads(json_.render(fleet_report(10, node07=0.6)))
    assert document["schema"] == "iostudy.fleet/1"
    assert_conforms(document, json_.build_schema(FleetReport))


def test_a_figure_of_which_lower_is_better_keeps_its_direction(tmp_path: Path) -> None:
    timed = TEXT.replace(
        "[{dfsio-write: {files: 2, size: 256MiB}}]",
        "[{dfsio-write: {files: 2, size: 256MiB, figure: exec_time}}]",
    )
    sides = []
    for number in range(6):
        side = node(number, text=timed)
        values = [
            replace(r, figures={**(r.figures or {}), "exec_time": 512 / r.figures["aggregate"]})
            for r in side.rows
            if r.figures is not None
        ]
        sides.append(replace(side, rows=tuple(values)))
    (comparison,) = build_fleet_report(sides).comparisons
    assert comparison.mean.verdict is Verdict.WORSE
    assert comparison.mean.change == pytest.approx(0.11, abs=0.02)


def test_a_missing_node_is_the_first_caveat():
    report = build_fleet_report(fleet(2), ["node11 is lost"])
    assert report.caveats[0] == "node11 is lost"
