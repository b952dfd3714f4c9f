"""Tests of lists of directories: absolute and unique."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from iostudy_hadoop.native.option_types import Directories

DIRECTORIES = TypeAdapter(Directories)


@pytest.mark.parametrize("given", ["/a, /b", ["/a", "/b"]])
def test_a_list_can_be_a_text_with_commas(given):
    assert DIRECTORIES.validate_python(given) == (Path("/a"), Path("/b"))
    assert DIRECTORIES.dump_python((Path("/a"), Path("/b")), mode="json") == "/a, /b"


@pytest.mark.parametrize(
    ("given", "words"), [("a", "is relative"), ("/a,", "is relative"), ("/a, /a", "occurs twice")]
)
def test_an_invalid_list_of_directories_is_refused(given, words):
    with pytest.raises(ValidationError, match=words):
        DIRECTORIES.validate_python(given)
