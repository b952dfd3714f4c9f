"""The check of words sees names and texts, and no docstrings or comments."""

import pytest

from tools import words

SETTINGS = {
    "words": {"identifiers": ["told"], "texts": ["put back"]},
    "allowed": {"identifiers": ["told_rows"]},
    "ceilings": {"told": 1},
}


def found(tmp_path, monkeypatch, name, source):
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / name).write_text(source)
    monkeypatch.setattr(words, "ROOT", tmp_path)
    return list(words.find_places(SETTINGS))


def test_names_and_texts_of_python(tmp_path, monkeypatch):
    source = '"""Put back."""\ntold_rows = BenchTold = 1  # told\nx = "is Put back"\n'
    assert found(tmp_path, monkeypatch, "a.py", source) == [
        ("told", "python/a.py:2: BenchTold"),
        ("put back", "python/a.py:3: 'is Put back'"),
    ]


def test_names_and_texts_of_rust(tmp_path, monkeypatch):
    source = '/// told\nfn told() {}\nlet a = "put back"; // told\n'
    assert found(tmp_path, monkeypatch, "a.rs", source) == [
        ("told", "python/a.rs:2: told"),
        ("put back", "python/a.rs:3: '\"put back\"'"),
    ]


@pytest.mark.parametrize(("uses", "code"), [(1, 0), (2, 1)])
def test_more_uses_than_the_ceiling_fail(uses, code, capsys):
    assert words._check(words.Counter(told=uses), SETTINGS) == code
