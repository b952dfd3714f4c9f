"""The section `search` becomes a space, a budget and known points, or is refused at its lines."""

from __future__ import annotations

import pytest

from iostudy.study.model import Study
from iostudy_search.candidates import add_candidates, name_points
from iostudy_search.optimizer.space import Choices, ParameterCondition, Range
from iostudy_search.search import DEFAULT, TimeBudget, TrialBudget, require_search
from tests.study.files import problems, read

SEARCH = """question: Which?
target: /data/scratch
search:
  parameters:
    block.read_ahead_kb: {from: 1024, to: 32768, scale: log}
    block.scheduler: [mq-deadline, bfq]
    block.mq-deadline.read_expire: {from: 8, to: 4000, scale: log, step: 4}
  budget: 120 trials
  try: {known: {block.scheduler: bfq, block.read_ahead_kb: 4096}}
  worst: 5%
workloads:
  - io: {label: file-writes, operation: write, files: 2, size: 64MiB}
  - io: {label: file-reads, files: 2, size: 64MiB}
"""
OPTION = SEARCH.replace(
    "    block.read_ahead_kb: {from: 1024, to: 32768, scale: log}\n",
    "    workload.record_size: {from: 64KiB, to: 4MiB, scale: log, step: 64KiB}\n",
).replace("block.read_ahead_kb: 4096", "workload.record_size: 128KiB")


def the_problem(text):
    (problem,) = problems(text)
    return problem


def search_of(text):
    study = read(text)
    return require_search(study)


def test_parameters_are_a_space():
    ahead, scheduler, expire = search_of(SEARCH).space.parameters
    assert ahead.domain == Range(1024, 32768, log=True, step=4)
    assert scheduler.domain == Choices(("mq-deadline", "bfq"))
    assert expire.condition == ParameterCondition("block.scheduler", ("mq-deadline",))


def test_the_default_is_everything_as_found_and_alone_as_long_as_no_candidate_is_known():
    (default,) = read(SEARCH).configurations()
    assert default.label == DEFAULT
    assert set(default.settings.values()) == {"as-found"}
    assert "block.mq-deadline.read_expire" not in default.settings


def test_a_list_of_one_is_held_and_searched_by_nobody():
    study = read(SEARCH.replace("[mq-deadline, bfq]", "[mq-deadline]").replace("try: {", "#"))
    assert [p.name for p in require_search(study).space.parameters] == [
        "block.read_ahead_kb",
        "block.mq-deadline.read_expire",
    ]
    assert study.baseline.settings["block.scheduler"] == "mq-deadline"
    assert require_search(study).space.parameters[1].condition is None


@pytest.mark.parametrize(
    ("text", "budget"),
    [("120 trials", TrialBudget(120)), ("2k trials", TrialBudget(2000)), ("2h", TimeBudget(7200))],
)
def test_a_budget_is_of_trials_or_of_time(text, budget):
    assert search_of(SEARCH.replace("120 trials", text)).budget == budget


def test_the_worst_is_a_share_that_may_be_left_out():
    assert search_of(SEARCH).worst == pytest.approx(0.05)
    assert search_of(SEARCH.replace("  worst: 5%\n", "")).worst is None


def test_an_option_has_its_default_from_the_workloads_and_sizes_are_bytes():
    study = read(OPTION)
    domain = require_search(study).space.parameters[0].domain
    assert domain == Range(65536, 4194304, log=True, step=65536)
    assert study.baseline.options == {"record_size": "1MiB"}
    assert require_search(study).tries["known"]["workload.record_size"] == "131072"


def test_the_default_is_known_where_it_lies_in_the_space():
    alone = "    workload.record_size: [64KiB, 1MiB, 4MiB]\n"
    text = "".join(
        line
        for line in OPTION.replace("    block.scheduler: [mq-deadline, bfq]\n", alone).splitlines(
            keepends=True
        )
        if not any(word in line for word in ("from:", "try:"))
    )
    assert search_of(text).default == {"workload.record_size": "1MiB"}
    assert search_of(SEARCH).default is None


def test_candidates_are_configurations_and_what_is_refused_is_left_out():
    study = read(SEARCH)
    points = [
        require_search(study).tries["known"],
        {"block.read_ahead_kb": "2048", "block.scheduler": "bfq"},
        {
            "block.read_ahead_kb": "2048",
            "block.scheduler": "mq-deadline",
            "block.mq-deadline.read_expire": "100",
        },
    ]
    named = name_points(study, points, (), 1)
    assert [each.label for each in named] == [
        "known",
        "read_ahead_kb=2048, scheduler=bfq",
        "read_ahead_kb=2048, scheduler=mq-deadline, read_expire=100",
    ]
    found = add_candidates(study, named).configurations()
    assert [each.label for each in found] == [DEFAULT, *(each.label for each in named)]
    assert found[2].settings == points[1]
    assert found[0] == study.baseline


def test_candidates_with_long_labels_are_numbered_and_no_two_are_called_the_same():
    text = SEARCH.replace("known:", '"read_ahead_kb=2048, scheduler=bfq":')
    again = {"block.read_ahead_kb": "2048", "block.scheduler": "bfq"}
    assert [each.label for each in name_points(read(text), [again], (), 1)] == ["candidate 1"]


def test_sizes_are_searched_in_whole_pages_and_are_called_as_sizes():
    text = OPTION.replace(", step: 64KiB", "")
    assert search_of(text).space.parameters[0].domain.step == 4096
    odd = text.replace("to: 4MiB", "to: 4000000")
    assert search_of(odd).space.parameters[0].domain.step == 1
    point = {"workload.record_size": "69632", "block.scheduler": "bfq"}
    (named,) = name_points(read(text), [point], (), 1)
    assert named.label == "record_size=68KiB, scheduler=bfq"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("{from: 64KiB, to: 64KiB}", "both ends are the same"),
        ("{from: 64KiB, to: 1MiB, step: .inf}", "step must be a number above 0"),
        ("{from: 64KiB, to: 1MiB, step: 1e-300}", "choose another step"),
        ("{from: 64KiB, to: 1MiB, step: 0.1}", "choose another step"),
    ],
)
def test_a_range_of_sizes_has_two_ends_and_whole_steps(given, words):
    text = OPTION.replace("{from: 64KiB, to: 4MiB, scale: log, step: 64KiB}", given)
    assert any(p.line == 5 and words in str(p) for p in problems(text))


def test_without_root_options_are_searched():
    section = """without_root:
  search:
    parameters: {workload.direct: [true, false], workload.record_size: [64KiB, 256KiB]}
    budget: 8 trials
"""
    study = read(SEARCH + section).without_root()
    assert require_search(study).budget == TrialBudget(8)
    assert study.baseline == Study.without_root(study).baseline
    assert study.baseline.options == {"direct": "false", "record_size": "1MiB"}


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("block.read_ahead_kb: {", "block.read_ahed_kb: {", 5, ["unknown factor", "read_ahead_kb"]),
        ("to: 32768, ", "", 5, ["lowest and a highest", "to is missing"]),
        ("scale: log}", "scale: logarithmic}", 5, ["unknown scale", "linear, log"]),
        ("from: 1024, to: 32768", "from: 0, to: 32768", 5, ["has to be above 0"]),
        ("from: 1024, to: 32768", "from: 32768, to: 1024", 5, ["from 32768 is more than to 1024"]),
        ("from: 1024", "from: 1025", 5, ["level 1025", "multiple of 4"]),
        ("to: 32768", "to: 2000000", 5, ["out of range", "1048576 KiB"]),
        ("scale: log}", "scale: log, stp: 4}", 5, ["unknown key", "did you mean step"]),
        ("scale: log}", "scale: log, step: 6}", 5, ["not a multiple of 4", "another step"]),
        ("{from: 1024, to: 32768, scale: log}", "offered", 5, ["{from: ..., to: ...}, or a list"]),
        ("[mq-deadline, bfq]", "[mq-deadline, bqf]", 6, ["unknown level", "mean bfq"]),
        ("[mq-deadline, bfq]", "[kyber, bfq]", 7, ["while block.scheduler is mq-deadline"]),
        ("120 trials", "3 trials", 8, ["too small", "are 4 trials"]),
        ("120 trials", "many", 8, ["120 trials or 2h", "found many"]),
        ("  budget: 120 trials\n", "", 3, ["it is missing (120 trials, or the time"]),
        ("block.read_ahead_kb: 4096", "block.read_ahead_kb: 64", 9, ["64 is no value"]),
        (", block.read_ahead_kb: 4096", "", 9, ["gives every parameter", "block.read_ahead_kb"]),
        ("known:", "default:", 9, ["choose another label"]),
        ("known:", "candidate 3:", 9, ["choose another label"]),
        ("worst: 5%", "worst: 5", 10, ["not a percentage"]),
        ("worst: 5%", "wors: 5%", 10, ["unknown key", "mean worst"]),
    ],
)
def test_an_error_is_reported_at_its_line(old, new, line, words):
    assert old in SEARCH
    found = [p for p in problems(SEARCH.replace(old, new, 1)) if p.line == line]
    assert any(all(word in str(problem) for word in words) for problem in found), found


def test_a_known_point_has_no_setting_that_its_other_values_exclude():
    text = SEARCH.replace("4096}", "4096, block.mq-deadline.read_expire: 100}")
    assert "read_expire does not exist with" in str(the_problem(text))


def test_file_systems_are_compared_and_not_searched():
    text = SEARCH.replace(
        "[mq-deadline, bfq]", "[mq-deadline, bfq]\n    filesystem.type: [ext4, xfs]"
    )
    assert "stays on one file system" in str(the_problem(text))


@pytest.mark.parametrize("more", ["factors: {block.scheduler: [none]}", "baseline: default"])
def test_a_search_excludes_factors(more):
    assert "does not go together with search" in str(the_problem(SEARCH + more + "\n"))


def test_workloads_that_differ_in_the_default_of_an_option_are_refused():
    text = OPTION.replace("label: file-reads, files: 2,", "label: file-reads, record_size: 64KiB,")
    assert "the same value in every workload" in str(the_problem(text))


def test_two_forms_of_one_number_are_not_searched_together():
    both = """{sysctl.vm.dirty_bytes: {from: 1048576, to: 10485760},
      sysctl.vm.dirty_ratio: {from: 1, to: 50}}"""
    text = f"""question: Which?
target: /data
search: {{parameters: {both}, budget: 1h}}
workloads: [io]
"""
    assert "one number in two forms" in str(the_problem(text))
