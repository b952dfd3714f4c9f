import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.host.raid_arrays import SyncAction, parse_action, parse_count, parse_progress


@pytest.mark.parametrize(
    ("text", "progress"),
    [
        ("none\n", None),
        ("delayed\n", None),
        ("0 / 0\n", None),
        ("500 / 2000\n", 0.25),
        ("1953382400 / 1953382400", 1.0),
        ("12 / 10", 1.0),
    ],
)
def test_progress(text: str, progress: float | None) -> None:
    assert parse_progress(text) == progress


@given(done=st.integers(0, 2**63), all_=st.integers(1, 2**63))
def test_progress_is_a_fraction(done: int, all_: int) -> None:
    progress = parse_progress(f"{done} / {all_}\n")
    assert progress is not None
    assert 0 <= progress <= 1


@given(st.text())
def test_other_texts_give_none(text: str) -> None:
    parse_progress(text)
    assert parse_count(text) >= 0


@pytest.mark.parametrize(
    ("text", "count"), [("4\n", 4), ("4 (3)\n", 4), ("", 0), (None, 0), ("unknown", 0)]
)
def test_counts(text: str | None, count: int) -> None:
    assert parse_count(text) == count


def test_actions() -> None:
    assert [action for action in SyncAction if not action.moves_data] == ["idle", "frozen"]
    assert parse_action("check\n") is SyncAction.CHECK
    assert parse_action("juggle\n") is parse_action(None) is None
