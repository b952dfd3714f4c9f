import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.host.processes import OPEN_FILES, ResourceLimit, parse_limits
from tests.host.recorded import SAMPLES


@pytest.mark.parametrize(
    ("sample", "limit"),
    [
        ("limits-2.6.32", ResourceLimit(1024, 4096)),
        ("limits-6.8", ResourceLimit(1024, 524288)),
        ("limits-unlimited", ResourceLimit(None, None)),
    ],
)
def test_limits_of_several_kernels(sample: str, limit: ResourceLimit) -> None:
    found = parse_limits((SAMPLES / sample).read_text())
    assert found[OPEN_FILES] == limit
    assert found["Max cpu time"] == ResourceLimit(None, None)
    assert found["Max nice priority"] == ResourceLimit(0, 0)
    assert len(found) == 16


numbers = st.none() | st.integers(0, 2**63)


@given(soft=numbers, hard=numbers, unit=st.sampled_from(["files", "us", ""]))
def test_limits_round_trip(soft: int | None, hard: int | None, unit: str) -> None:
    columns = ["unlimited" if value is None else str(value) for value in (soft, hard)]
    line = f"{OPEN_FILES:<25} {columns[0]:<20} {columns[1]:<20} {unit:<10}\n"
    assert parse_limits(line) == {OPEN_FILES: ResourceLimit(soft, hard)}


@given(st.text())
def test_other_texts_give_none(text: str) -> None:
    parse_limits(text)


def test_a_limit_in_words() -> None:
    assert str(ResourceLimit(1024, None)) == "soft 1024, hard unlimited"
