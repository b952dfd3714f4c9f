"""Each attack of the campaign that needs no study, twice."""

import pytest

from tests.attack.namespaces import ATTACKS, WITH_STUDY, attack

pytestmark = pytest.mark.root
_SECONDS = 60


@pytest.mark.parametrize("name", [name for name in ATTACKS if name not in WITH_STUDY])
def test_nothing_is_forgotten_or_left(name: str) -> None:
    assert attack(name, _SECONDS, seed=1, most=2).failures == []
