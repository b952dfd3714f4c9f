"""``iostudy fleet report`` as a user calls it."""

from __future__ import annotations

import json

from tests.cli.test_commands import WITHOUT_ROOT

NODES = ("one", "two")


def test_a_fleet_is_reported_in_every_format_and_other_studies_are_refused(program):
    for seed, (out, place) in enumerate(zip(NODES, ("", "nodes: {ssh: [a, b]}\n"), strict=True)):
        program.write(WITHOUT_ROOT + place)
        done = program("run", "study.yaml", "--out", out, "--seed", str(seed))
        assert done.returncode == 0, done.stderr
        assert ("`iostudy fleet run study.yaml` runs it on a, b" in done.stderr) == bool(place)
    done = program("fleet", "report", *NODES)
    assert done.returncode == 0, done.stderr
    assert "Changes against 1MiB" in done.stdout
    assert "Several folders have the host name" in done.stdout
    document = json.loads(program("fleet", "report", *NODES, "--format", "json").stdout)
    assert document["schema"] == "iostudy.fleet/1"
    assert [each["node"] for each in document["nodes"]] == list(NODES)
    (comparison,) = document["comparisons"]
    own = json.loads((program.folder / "one/report.json").read_text())
    node = document["nodes"][0]["workloads"][0]
    for ours, theirs in zip(node["results"], own["workloads"][0]["results"], strict=True):
        assert ours == theirs
    assert sum(comparison["verdicts"].values()) == 2
    assert "| new node |" in program("fleet", "report", *NODES, "--format", "markdown").stdout
    assert "<html" in program("fleet", "report", *NODES, "--format", "html").stdout
    single = program("fleet", "report", "one")
    assert (single.returncode, single.stdout) == (2, "")
    assert "at least 2 output folders" in single.stderr
    twice = program("fleet", "report", "one", "./one", "two")
    assert (twice.returncode, "twice" in twice.stderr) == (2, True)
    program.write(WITHOUT_ROOT.replace("size: 1MiB", "size: 2MiB"))
    assert program("run", "study.yaml", "--out", "other").returncode == 0
    other = program("fleet", "report", "one", "other")
    assert (other.returncode, other.stdout) == (2, "")
    assert "another workloads than in one" in other.stderr
    missing = program("fleet", "report", "one", "nowhere")
    assert (missing.returncode, "nowhere" in missing.stderr) == (2, True)
