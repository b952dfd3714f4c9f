"""Mutants of each kind and hostile documents are taken without a traceback, at once."""

from __future__ import annotations

import random

import pytest

from iostudy.study import library
from tests.attack.studies import MUTATIONS, failure, hostile

TEXT = (library.FOLDER / "noatime-small-files.yaml").read_text()
OTHER = (library.FOLDER / "quickstart.yaml").read_text()


@pytest.mark.child
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutant_is_a_study_or_an_error(name):
    chance = random.Random(name)
    for _ in range(10):
        mutant = MUTATIONS[name](chance, TEXT, OTHER).encode("utf-8", "surrogateescape")
        assert not failure(mutant)


@pytest.mark.parametrize(("name", "content"), list(hostile()), ids=[name for name, _ in hostile()])
def test_a_hostile_document_is_a_study_or_an_error(name, content):
    assert not failure(content), name
