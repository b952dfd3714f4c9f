"""Tests of further directories: absolute, unique and writable."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from iostudy.errors import TargetError
from iostudy.workloads.directories import Directories, refuse_unfit
from iostudy.workloads.option_types import TextList

DIRECTORIES = TypeAdapter(Directories)
TEXTS = TypeAdapter(TextList[str])


@pytest.mark.parametrize("given", ["/a, /b", ["/a", "/b"]])
def test_a_list_can_be_a_text_with_commas(given):
    assert DIRECTORIES.validate_python(given) == (Path("/a"), Path("/b"))
    assert DIRECTORIES.dump_python((Path("/a"), Path("/b")), mode="json") == "/a, /b"


@given(st.lists(st.text().map(str.strip)))
def test_any_list_is_read_back_as_it_was_written(texts):
    assert TEXTS.validate_python(TEXTS.dump_python(tuple(texts), mode="json")) == tuple(texts)


@pytest.mark.parametrize(
    ("given", "words"), [("a", "is relative"), ("/a,", "is relative"), ("/a, /a", "occurs twice")]
)
def test_an_invalid_list_of_directories_is_refused(given, words):
    with pytest.raises(ValidationError, match=words):
        DIRECTORIES.validate_python(given)


@pytest.mark.parametrize(
    ("name", "words"), [("none", "it does not exist"), ("file", "it is not a directory")]
)
def test_first_unfit_directory_is_reported(tmp_path, name, words):
    (tmp_path / "file").touch()
    with pytest.raises(TargetError, match=words) as caught:
        refuse_unfit([tmp_path, tmp_path / name], "for intermediate data")
    assert caught.value.where == str(tmp_path / name)
