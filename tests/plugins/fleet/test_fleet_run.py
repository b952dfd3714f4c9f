"""`iostudy fleet` as a user calls it, with real agents and studies on several nodes."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy.folders import FLEET_FILES, FLEET_PAGE, FLEET_RECORD
from iostudy_fleet.record import read_record
from tests.plugins.fleet.hosts import AGENT, SUPERVISOR, Hosts
from tests.plugins.fleet.small_study import (
    HANG_GUARD_SECONDS,
    require_varied_and_restored,
    run_arguments,
    wait_until,
    write_declared_study,
    write_study,
)
from tests.plugins.fleet.traps import nodes_among_traps

pytestmark = pytest.mark.process


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    hosts = Hosts(tmp_path)
    write_study(hosts, 4)
    yield hosts
    hosts.end()


def test_a_study_runs_on_every_node_and_its_results_are_pooled(hosts: Hosts):
    arguments = run_arguments(hosts, "ssh:gone", lease="60s")  # of a busy host too
    refused = hosts.controller(*arguments)
    assert (refused.returncode, "host gone: no route" in refused.stderr) == (2, True)
    relative = hosts.controller(*arguments, "--work", "here")
    assert (relative.returncode, "an absolute path" in relative.stderr) == (2, True)
    with nodes_among_traps(hosts, "n1", "n2"):
        write_declared_study(hosts, "nodes: {ssh: [n1, n2]}\n")
        done = hosts.controller(
            *(word for word in arguments if word not in ("--nodes", "ssh:gone"))
        )
        assert done.returncode == 0, done.stderr
    assert "Changes against 1" in done.stdout
    assert "2 complete" in done.stderr
    require_varied_and_restored(hosts)
    out = hosts.controller.out
    files = {path.name for path in out.iterdir()} - {"n1", "n2"}
    assert {FLEET_RECORD, FLEET_PAGE} == files < {*FLEET_FILES}, "no node can have these names"
    links = re.findall(r'<a href="([^"#]*)">', (out / "report.html").read_text("utf-8"))
    assert set(links) == {"n1/report.html", "n2/report.html"}
    assert all((out / link).exists() for link in links)
    states = {
        json.loads((out / node / "report.json").read_text())["state"] for node in ("n1", "n2")
    }
    assert states == {"complete"}
    assert list((hosts.folder / "work").iterdir()) == [], "a complete study stays on no node"
    assert not any(
        hosts.find(node, module) for node in ("n1", "n2") for module in (AGENT, SUPERVISOR)
    )
    report = hosts.controller("fleet", "report", "out")
    assert (report.returncode, report.stdout) == (0, done.stdout)


def test_check_names_what_each_node_lacks(hosts: Hosts):
    hosts.add("ready")
    skewed = hosts.folder / "skewed/iostudy_fleet-9.9.dist-info"
    skewed.mkdir(parents=True)
    (skewed / "METADATA").write_text("Metadata-Version: 2.1\nName: iostudy-fleet\nVersion: 9.9\n")
    nodes = hosts.add("skewed", PYTHONPATH=str(skewed.parent))
    write_declared_study(hosts)
    done = hosts.controller("fleet", "check", "study.yaml", "--nodes", f"{nodes},gone")
    assert done.returncode == 2
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert lines["ready"].endswith("ready")
    assert "iostudy 9.9, and " in lines["skewed"]
    assert "no connection: ssh: connect to host gone: no route" in lines["gone"]
    assert "iostudy[fleet]==" in done.stderr
    run = hosts.controller(*run_arguments(hosts, nodes))
    assert (run.returncode, "iostudy 9.9, and " in run.stderr) == (2, True)
    assert not hosts.controller.out.exists()
    ready = hosts.controller("fleet", "check", "study.yaml", "--nodes", "ssh:ready")
    assert ready.returncode == 0, ready.stderr


@pytest.mark.slow
def test_a_lost_node_stops_the_others_continue_and_resume_completes_it(hosts: Hosts):
    nodes = hosts.add("n1", "n2")
    write_study(hosts, 40, least=40)
    process = hosts.controller.start(*run_arguments(hosts, nodes))
    wait_until(lambda: hosts.find("n1", SUPERVISOR))
    hosts.kill("n1", AGENT)
    _, stderr = process.communicate(timeout=HANG_GUARD_SECONDS)
    assert process.returncode == 3, stderr
    assert "n1 is lost: no answer for 8 s" in stderr
    assert "n2 is complete" in stderr
    record = read_record(hosts.controller.out)
    assert record is not None
    assert Path(record.nodes["n1"].folder, "out").is_dir(), "the results stay on the node"
    (caveat,) = record.list_missing()
    assert "n1 is lost: no answer for 8 s" in caveat
    wait_until(lambda: not hosts.find("n1", SUPERVISOR))
    resumed = hosts.controller(*run_arguments(hosts, nodes), "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert "Changes against 1MiB" in resumed.stdout


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_without_a_controller_every_node_stops_and_resume_completes_all(hosts: Hosts, number):
    nodes = hosts.add("n1", "n2")
    write_study(hosts, 40, least=40)
    process = hosts.controller.start(*run_arguments(hosts, nodes))
    wait_until(lambda: hosts.find("n1", SUPERVISOR) and hosts.find("n2", SUPERVISOR))
    process.send_signal(number)
    _, stderr = process.communicate(timeout=HANG_GUARD_SECONDS)
    wait_until(lambda: not (hosts.find("n1", SUPERVISOR) or hosts.find("n2", SUPERVISOR)))
    wait_until(lambda: not (hosts.find("n1", AGENT) or hosts.find("n2", AGENT)))
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert "resume with --resume" in stderr
    resumed = hosts.controller(*run_arguments(hosts, nodes), "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert "2 complete" in resumed.stderr
    again = hosts.controller(*run_arguments(hosts, nodes), "--resume")
    assert (again.returncode, again.stdout) == (0, resumed.stdout)
