"""The check of words reads names, texts, docstrings, comments and templates."""

from tools import words

SETTINGS = {
    "words": {
        "identifiers": ["told"],
        "variables": ["own"],
        "texts": ["put back"],
        "prose": ["asked"],
    },
    "allowed": {
        "texts": ["Put back!"],
        "keys": ["put back"],
    },
}


def found(tmp_path, monkeypatch, name, source):
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / name).write_text(source)
    monkeypatch.setattr(words, "ROOT", tmp_path)
    return list(words.find_places(SETTINGS))


def test_names_and_texts_of_python(tmp_path, monkeypatch):
    source = 'BenchTold = 1\nx = "is Put back, as asked"\n'
    assert found(tmp_path, monkeypatch, "a.py", source) == [
        ("told", "python/a.py:1: BenchTold"),
        ("put back", "python/a.py:2: 'is Put back, as asked'"),
    ]


def test_variables_of_python(tmp_path, monkeypatch):
    source = (
        "class Figure:\n    own: str\n"
        "own = 1\n"
        "for a, own in b:\n    x = [own for own in own if (own := f(own=own))]\n"
    )
    uses = [("own", f"python/a.py:{line}: a variable is a noun") for line in (3, 4, 5, 5)]
    assert found(tmp_path, monkeypatch, "a.py", source) == uses


def test_docstrings_and_comments_of_python(tmp_path, monkeypatch):
    source = '"""A module.\n\nPut back.\n"""\nx = 1  # as asked\n'
    assert found(tmp_path, monkeypatch, "a.py", source) == [
        ("asked", "python/a.py:5: '# as asked'"),
        ("put back", "python/a.py:3: 'Put back.'"),
    ]


def test_names_and_texts_of_rust(tmp_path, monkeypatch):
    source = (
        '/// told\nfn told() {}\nlet a = "put back"; // asked\n#[cfg(test)]\nlet told = "put back";'
    )
    assert found(tmp_path, monkeypatch, "a.rs", source) == [
        ("told", "python/a.rs:2: told"),
        ("told", "python/a.rs:5: told"),
        ("put back", "python/a.rs:3: '\"put back\"'"),
        ("asked", "python/a.rs:3: '// asked'"),
    ]


def test_templates(tmp_path, monkeypatch):
    source = "{% macro rows(asked) %}\n<p>put back</p>\n"
    assert found(tmp_path, monkeypatch, "a.html", source) == [
        ("asked", "python/a.html:1: '{% macro rows(asked) %}'"),
        ("put back", "python/a.html:2: '<p>put back</p>'"),
    ]


def test_identifiers_of_tests(tmp_path, monkeypatch):
    (tmp_path / "tests/new").mkdir(parents=True)
    (tmp_path / "tests/new/a.py").write_text('told = "put back"\n')
    assert found(tmp_path, monkeypatch, "a.py", "") == [("told", "tests/new/a.py:1: told")]


def test_keys_that_users_have_are_allowed(tmp_path, monkeypatch):
    source = 'a = "Put back!"\nb = "write put back: 1"\nc = "put back 1"\n'
    uses = [("put back", "python/a.py:3: 'put back 1'")]
    assert found(tmp_path, monkeypatch, "a.py", source) == uses


def test_use_of_a_word_fails_the_check_and_is_printed(tmp_path, monkeypatch, capsys):
    found(tmp_path, monkeypatch, "a.py", "seen = 1\n")
    assert words.main() == 1
    assert "python/a.py:1: seen: `seen`" in capsys.readouterr().out
    (tmp_path / "python" / "a.py").write_text("figures = 1\n")
    assert words.main() == 0
