"""Windows of the benchmarks that repeat themselves, and the reasons of those that cannot."""

from __future__ import annotations

import pytest

from iostudy.errors import WorkloadError
from iostudy.workloads import catalog
from iostudy.workloads.workload import Place
from tests.workloads.test_windows import FILES, WIDTH, check_repetition, first_count, running

TREE = {"threads": 2, "files": 70, "files_per_directory": 50}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("dfsio-read", FILES),
        ("dfsio-write", FILES),
        ("dfsio-skip-read", FILES),
        ("nnbench", TREE | {"sync": "file"}),
        ("nnbench", TREE | {"sync": "directory", "operations": "mkdir, rmdir", "shared": False}),
        ("nnthroughput", {"threads": 8, "files": 100}),
        ("nnthroughput", {"threads": 8, "files": 100, "operations": "open, file-status"}),
    ],
    ids=str,
)
def test_workloads_that_repeat_themselves(name, options, tmp_path):
    check_repetition(name, options, tmp_path)


def test_a_cycle_has_all_operations_in_equal_numbers(tmp_path):
    definition = catalog.get("nnthroughput")
    options = {"threads": 4, "files": 64, "operations": "create, open, delete"}
    workload = definition.make(definition.options.model_validate(options))
    with running(workload, tmp_path) as run:
        counts = [first_count(run) for _ in range(4)]
    for operation in ("create", "delete"):
        done = sum(each.figures[f"{operation}_rate"] for each in counts) * WIDTH
        opened = sum(each.figures["open_rate"] for each in counts) * WIDTH
        # A window cuts at most one group of 32 files of each worker at either end.
        assert done == pytest.approx(opened, abs=2 * 4 * 32 * 4)


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("dfsio-read", {}, "page cache"),
        ("dfsio-write", {}, "before they reach the device"),
        ("dfsio-append", {"direct": True}, "grow"),
        ("dfsio-truncate", {}, "cut off once"),
        ("nnbench", {"operations": "create_write"}, "begin with create_write and end with delete"),
        ("nnbench", {"operations": "stat"}, "cannot be repeated"),
        ("nnbench", {}, "sync: directory"),
        ("nnthroughput", {"operations": "create, mkdirs, delete"}, "without mkdirs"),
        ("nnthroughput", {"sync": "none"}, "never synced"),
    ],
    ids=str,
)
def test_workloads_without_a_steady_state_give_a_reason(name, options, reason):
    definition = catalog.get(name)
    workload = definition.make(definition.options.model_validate(options))
    assert reason in workload.unsteady_reason()


def test_a_log_that_cannot_be_written_is_an_error(tmp_path):
    definition = catalog.get("nnthroughput")
    (tmp_path / "file").touch()
    workload = definition.make(definition.options.model_validate({"files": 10, "threads": 2}))
    with pytest.raises(WorkloadError, match="serve a namespace"):
        workload.steady_run(Place(tmp_path / "file", seed=7)).run()
