import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.settings import catalog, kinds
from iostudy.settings.definitions.queue import NR_REQUESTS, READ_AHEAD, SCHEDULER
from iostudy.settings.values import AS_FOUND


def test_values_of_the_host_are_valid_levels() -> None:
    assert SCHEDULER.parse(AS_FOUND) == NR_REQUESTS.parse(f" {AS_FOUND} ") == AS_FOUND


def test_the_catalogue() -> None:
    assert catalog.names()[:3] == ("block.scheduler", "block.read_ahead_kb", "block.nr_requests")
    for name in (
        "block.schedular",
        "block.none.such.thing",
        "nonesuch",
        "/etc/passwd",
        "/sys/../etc",
    ):
        with pytest.raises(KeyError):
            catalog.get(name)


def test_any_attribute_of_a_queue_and_any_file_of_the_kernel_is_a_setting() -> None:
    assert catalog.get("block.io_poll").undocumented
    assert str(catalog.get("block.bfq.timeout_async").condition) == "block.scheduler is bfq"
    assert catalog.get("/sys/kernel/mm/ksm/run").name == "/sys/kernel/mm/ksm/run"


def test_every_setting_is_acted_on_by_one_kind() -> None:
    acting = {
        name: [kind for kind in kinds.all_kinds() if isinstance(catalog.get(name), kind.definition)]
        for name in catalog.names()
    }
    assert {name: found for name, found in acting.items() if len(found) != 1} == {}


def test_every_definition_is_complete() -> None:
    for name in catalog.names():
        definition = catalog.get(name)
        assert definition.name == name
        assert all((definition.documentation, definition.source, definition.default)), name
        assert definition.allowed, name
        assert definition.condition is None or definition.condition.name in catalog.names(), name


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("block.scheduler", "only deadline, mq-deadline, none, noop: kyber adapts"),
        ("block.nomerges", "yes"),
        ("block.read_ahead_kb", "no: an open file keeps the read-ahead of its opening"),
        ("sysctl.vm.dirty_ratio", "no: dirty memory"),
        ("sysctl.kernel.pid_max", "no: its effect on a running workload is unknown"),
        ("mount.atime", "no: a remount"),
        ("filesystem.type", "no: mkfs"),
        pytest.param(
            *("hadoop.dfs.replication", "no: a job or daemon reads"), marks=pytest.mark.all_plugins
        ),
    ],
)
def test_switchable_settings(name: str, answer: str) -> None:
    assert str(catalog.get(name).switching).startswith(answer)


@pytest.mark.parametrize("text", ["none", " bfq\n", "cfq"])
def test_a_scheduler_by_name(text: str) -> None:
    assert SCHEDULER.parse(text) == text.strip()


@pytest.mark.parametrize(
    ("definition", "text", "why"),
    [
        (SCHEDULER, "BFQ", "not one of its values; allowed: none, mq-deadline"),
        (SCHEDULER, "", "not one of its values"),
        (NR_REQUESTS, "3", "out of range; allowed: 4 to 10240 requests"),
        (NR_REQUESTS, "١٢", "not a whole number"),
        (NR_REQUESTS, "-4", "not a whole number"),
        (READ_AHEAD, "77", "not a multiple of 4; allowed: 0 to 1048576 KiB, a multiple of 4"),
        (READ_AHEAD, "128.0", "not a whole number"),
    ],
)
def test_invalid_levels_are_refused(definition: type, text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        definition.parse(text)  # type: ignore[attr-defined]


@given(st.integers(4, 10240), st.integers(0, 3))
def test_numbers_come_out_as_the_kernel_writes_them(number: int, zeros: int) -> None:
    assert NR_REQUESTS.parse("0" * zeros + str(number)) == str(number)


def test_the_value_as_found_may_be_one_that_adapts():
    assert "kyber adapts" in catalog.get("block.scheduler").switching.find_obstacle(AS_FOUND)
    assert not catalog.get("block.nr_requests").switching.find_obstacle(AS_FOUND)
