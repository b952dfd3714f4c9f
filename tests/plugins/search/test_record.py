"""Tests of the record of candidates in the ledger."""

from contextlib import closing

from iostudy.ledger.store import Ledger
from iostudy_search.record import SearchRecord
from iostudy_search.search import Candidate
from tests.ledger.test_store import STUDY


def test_a_candidate_is_refused_alone(tmp_path):
    with closing(Ledger.create(tmp_path, STUDY)) as ledger:
        record = SearchRecord(ledger)
        record.enter(Candidate(number, 1, label, {}) for number, label in enumerate("abc", start=1))
        record.refuse("b", "no room")
        assert [each.refused for each in record.candidates()] == ["", "no room", ""]
