"""Tests of further directories: absolute, unique and writable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from iostudy.errors import TargetError
from iostudy.workloads.directories import refuse_unfit
from iostudy.workloads.option_types import TextList

TEXTS = TypeAdapter(TextList[str])


@given(st.lists(st.text().map(str.strip)))
def test_any_list_is_read_back_as_it_was_written(texts):
    assert TEXTS.validate_python(TEXTS.dump_python(tuple(texts), mode="json")) == tuple(texts)


@pytest.mark.parametrize(
    ("name", "words"), [("none", "it does not exist"), ("file", "it is not a directory")]
)
def test_first_unfit_directory_is_reported(tmp_path, name, words):
    (tmp_path / "file").touch()
    with pytest.raises(TargetError, match=words) as caught:
        refuse_unfit([tmp_path, tmp_path / name], "for intermediate data")
    assert caught.value.where == str(tmp_path / name)
