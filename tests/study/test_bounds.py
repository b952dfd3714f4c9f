"""A number of a study has a bound, and an error gives it as the file would."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iostudy.workloads import catalog
from tests.study.files import GOOD, ON_HADOOP, READS, add_job, only_problem, problems

READ = f"- {READS}"
IO = "- io: {duration: 10s, %s}"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (READ, IO % "ramp: 2h", ["ramp", "at most 1h"]),
        (READ, IO % "think: 2h", ["think", "at most 1h"]),
        (READ, "- io: {duration: 1000h}", ["duration", "at most 168h"]),
        (READ, IO % "rate: 2G", ["rate", "at most 1G"]),
        (READ, IO % "order: strided, step: 9000G", ["step", "at most 1000G"]),
        (READ, IO % "size: 1TiB, record_size: 1TiB", ["record_size", "at most 1GiB"]),
        (READ, IO % "jobs: 4096, files: 65536", ["at most 1000000"]),
        (READ, IO % "jobs: 4096, depth: 4096, engine: io_uring", ["at most 64GiB"]),
        (READ, IO % "order: zipf, zipf_exponent: 1e308", ["10.0 or less"]),
        ("files: 2", "files: true", ["write a whole number", "found true"]),
        ("30]", "30], weights: {file-reads: true}", ["write a number", "found true"]),
        ("30]", "30], weights: {file-reads: 1e300}", ["at most 1e+06"]),
        ("risk: 5%", "risk: 0.0000001%", ["more than 0.01%"]),
        ("/data/scratch", "{loopback: {size: 4096TiB}}", ["at most 16TiB"]),
        ("/data/scratch", f"/data/{'x' * 256}", ["the path is too long", "255 in each"]),
        ("/data/scratch", "/" + "x/" * 2500, ["the path is too long", "at most 4096"]),
        ("/data/scratch", f"{{scratch: {{device: /dev/{'x' * 256}}}}}", ["the path is too long"]),
        ("Does the scheduler matter?", "x" * 1001, ["at most 1000 characters"]),
        ("[none, bfq]", str(list(range(3000))), ["levels; at most 2000"]),
        (f"  {READ}", f"  {READ}\n" * 100, ["too many; at most 100", "found 101"]),
    ],
)
def test_a_number_beyond_its_bound_is_refused(old, new, words):
    problem = only_problem(old, new)
    for word in words:
        assert word in str(problem)


def test_a_load_of_more_levels_than_a_curve_needs_is_refused():
    text = GOOD.replace("files: 2, ", "") + f"load: {{workload.files: {list(range(1, 200))}}}\n"
    (problem,) = problems(text)
    assert "at most 100" in problem.message


@pytest.mark.all_plugins
def test_true_is_no_number_of_datanodes(monkeypatch):
    add_job(monkeypatch)
    (problem,) = problems(ON_HADOOP + "hadoop: {datanodes: true}\n")
    assert (problem.line, problem.message) == (7, "write a whole number")


@pytest.mark.parametrize("budget", ["9G trials", "1000000h"])
@pytest.mark.all_plugins
def test_a_search_has_a_bounded_budget(budget):
    search = "search:\n  parameters: {block.nr_requests: [64, 128]}\n  budget: " + budget
    (problem,) = problems(GOOD.replace("factors:\n  block.scheduler: [none, bfq]", search))
    assert problem.line == 5
    assert "at most" in problem.message


@pytest.mark.parametrize("key", ["regex", "jmespath"])
@pytest.mark.parametrize("depth", [200, 5000])
def test_a_pattern_of_many_brackets_is_a_problem_and_no_traceback(key, depth):
    pattern = "(" + "(?:" * depth + "a" + ")" * depth + ")" if key == "regex" else "(" * depth
    figures = f"{{a: {{{key}: '{pattern}', unit: s, higher_is_better: true}}}}"
    text = GOOD.replace(READ, f"- command: {{run: ls, figures: {figures}}}")
    assert all(problem.line == 7 for problem in (problems(text) if depth > 200 else ()))


def test_a_study_has_one_service(monkeypatch):
    for name, service in (("on-one", "one"), ("on-another", "another")):
        job = replace(catalog.get("io"), name=name, service=service)
        monkeypatch.setitem(catalog._ALL, name, job)
    text = GOOD.replace(f"  {READ}\n", "  - on-one\n  - on-another\n")
    (problem,) = problems(text)
    assert (problem.path, problem.found) == ("workloads", "one, another")
