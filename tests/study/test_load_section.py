"""A load: one option of the workloads, whose levels make a curve."""

from __future__ import annotations

import pytest

from iostudy.errors import Problem
from iostudy.study.plan import make_plan
from tests.study.files import GOOD, problems, read

READERS = "io: {label: readers, size: 20MiB}"
LOADED = (
    "".join((*GOOD.splitlines(keepends=True)[:5], f"  - {READERS}\n", "  - iozone\n"))
    + (GOOD.splitlines(keepends=True)[-1])
)
LOADED = LOADED.replace("workloads:", "load:\n  workload.jobs: [1, 4, 16]\nworkloads:")
LINE = 6
"""Where the load stands in it."""


def problem(old: str, new: str) -> Problem:
    assert old in LOADED
    (found,) = problems(LOADED.replace(old, new))
    return found


def test_each_level_is_a_workload_of_its_own_and_the_others_stay():
    study = read(LOADED)
    assert [own.label for own in study.workloads] == [
        "readers at jobs=1",
        "readers at jobs=4",
        "readers at jobs=16",
        "iozone",
    ]
    *curve, other = study.workloads
    assert [own.load.level for own in curve if own.load] == [1, 4, 16]
    assert [own.options.jobs for own in curve] == [1, 4, 16]  # type: ignore[attr-defined]
    assert {own.listed_as for own in curve} == {"readers"}
    assert other.load is None
    assert other.listed_as == "iozone"


def test_levels_share_the_risk_and_the_blocks_like_other_workloads():
    study = read(LOADED)
    assert study.comparisons == 4
    blocks = make_plan(study, 1).blocks[:4]
    assert {block.workload for block in blocks} == {own.label for own in study.workloads}


def test_a_curve_counts_as_one_workload():
    assert read(LOADED).weights == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1])
    weighted = LOADED.replace("blocks: [5, 30]", "blocks: [5, 30], weights: {readers: 6}")
    assert read(weighted).weights == pytest.approx([2, 2, 2, 1])
    found = problems(weighted.replace("{readers: 6}", "{readers at jobs=4: 6}"))
    assert found[0].allowed == "readers, iozone"


def test_sizes_and_times_are_loads_as_the_file_has_them():
    study = read(LOADED.replace("jobs: [1, 4, 16]", "record_size: [512KiB, 1MiB]"))
    assert [own.label for own in study.workloads[:2]] == [
        "readers at record_size=512KiB",
        "readers at record_size=1MiB",
    ]
    assert [own.load.level for own in study.workloads[:2] if own.load] == [2**19, 2**20]


def test_every_workload_that_has_the_option_has_a_curve():
    two = LOADED.replace("iozone", "io")
    assert len(read(two).workloads) == 6


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ("[1]", "too few; at least 2 are wanted"),
        ("[]", "too few; at least 2 are wanted"),
        ("8", "a list is wanted here"),
        ("[1, 4, 4]", "levels of load ascend; 4 comes before 4"),
        ("[4, 1]", "levels of load ascend; 4 comes before 1"),
        ("[1, many]", "write a whole number"),
        ("[0, 1]", "out of range"),
        ("[1, [2]]", "a single value is wanted here"),
    ],
)
def test_levels_are_numbers_that_ascend(levels: str, message: str):
    found = problem("[1, 4, 16]", levels)
    assert found.line == LINE
    assert message in found.message


@pytest.mark.parametrize(
    ("load", "message"),
    [
        ("workload.direct: [false, true]", "counts or measures something"),
        ("workload.think: [0s, 1s]", "a number above 0"),
    ],
)
def test_a_load_counts_or_measures_something(load: str, message: str):
    changed = LOADED.replace("workload.jobs: [1, 4, 16]", load).replace("  - iozone\n", "")
    assert all(message in found.message for found in problems(changed))


def test_a_level_has_to_fit_the_other_options():
    found = problem("size: 20MiB", "files: 65536")
    assert found.path == "load.workload.jobs.2"
    assert "readers: 1048576 files of all jobs" in found.message


def test_one_option_makes_the_curves():
    found = problem(
        "  workload.jobs: [1, 4, 16]", "  {workload.jobs: [1, 2], workload.files: [1, 2]}"
    )
    assert found.path == "load"
    assert found.message.startswith("too many; at most 1")


@pytest.mark.parametrize("name", ["workload.job", "workload.rows", "block.nr_requests"])
def test_an_option_that_no_workload_has_suggests_one(name: str):
    found = problem("workload.jobs", name)
    assert found.message == "unknown option of these workloads"
    assert (found.line, found.found) == (LINE, name)
    if name == "workload.job":
        assert found.suggestion == "workload.jobs"


def test_a_load_is_no_factor_too():
    found = problem("[none, bfq]\n", "[none, bfq]\n  workload.jobs: [1, 2]\n")
    assert found.path == "factors.workload.jobs"
    assert found.line == 5
    without = LOADED + "without_root: {factors: {workload.jobs: [1, 2]}}\n"
    assert [p.path for p in problems(without)] == ["without_root.factors.workload.jobs"]


@pytest.mark.all_plugins
def test_a_load_is_no_parameter_of_a_search():
    search = "search: {parameters: {workload.jobs: {from: 1, to: 8}}, budget: 99 trials}"
    searched = LOADED.replace("factors:\n  block.scheduler: [none, bfq]\n", f"{search}\n")
    assert "search.parameters.workload.jobs" in [p.path for p in problems(searched)]


def test_a_load_is_not_fixed_in_a_workload_too():
    found = problem("size: 20MiB", "jobs: 4")
    assert found.path == "workloads.0.io.jobs"
    assert found.found == "4"


def test_a_label_has_to_leave_room_for_the_load():
    long = LOADED.replace("label: readers", "label: " + "x" * 55)
    assert all("60 printable characters" in found.message for found in problems(long))


def test_a_problem_of_a_workload_is_reported_once():
    assert [p.path for p in problems(LOADED.replace("size: 20", "siz: 20"))] == [
        "workloads.0.io.siz"
    ]


@pytest.mark.parametrize("section", ["3", "text", "{}", ".nan"])
def test_a_load_of_workloads_that_are_no_list_is_a_problem(section):
    lines = GOOD.splitlines(keepends=True)
    text = "".join([*lines[:4], f"workloads: {section}\n", "load: {workload.files: [1, 2]}\n"])
    assert "a list is wanted here, such as [io" in problems(text)[0].message


def of_nodes(levels: str, rest: str = "") -> str:
    """A study of a directory, as several nodes need it."""
    return f"""\
question: Which?
target: /srv/shared
factors: {{workload.record_size: [1MiB, 64KiB]}}
load:
  fleet.nodes: {levels}
workloads:
  - io: {{label: file-reads, figure: exec_time}}
  - io: {{label: file-writes, operation: write, figure: exec_time}}
{rest}"""


def test_numbers_of_nodes_are_a_load_of_every_workload():
    study = read(of_nodes("[1, 2, 16]"))
    assert [own.label for own in study.workloads][:4] == [
        "file-reads at nodes=1",
        "file-reads at nodes=2",
        "file-reads at nodes=16",
        "file-writes at nodes=1",
    ]
    assert [own.node_count for own in study.workloads] == [1, 2, 16] * 2
    assert [own.load.level for own in study.workloads if own.load] == [1, 2, 16] * 2
    assert study.most_nodes == 16
    other = read(LOADED)
    assert (other.most_nodes, {own.node_count for own in other.workloads}) == (None, {None})


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ("[0, 1]", "a number of nodes is a whole number above 0"),
        ("[1, 1.5]", "a number of nodes is a whole number above 0"),
        ("[1, all]", "a number of nodes is a whole number above 0"),
        ("[1, true]", "a number of nodes is a whole number above 0"),
        ("[2, 2]", "levels of load ascend; 2 comes before 2"),
        ("[4, 2]", "levels of load ascend; 4 comes before 2"),
        ("[4]", "too few; at least 2 are wanted"),
    ],
)
def test_numbers_of_nodes_are_whole_and_ascend(levels: str, message: str):
    (found,) = problems(of_nodes(levels))
    assert found.line == 5
    assert message in found.message


def test_a_name_that_is_almost_that_of_nodes_suggests_it():
    assert problems(of_nodes("[1, 2]").replace("fleet.nodes", "fleet.node"))[0].suggestion == (
        "fleet.nodes"
    )
