"""Check that identifiers and texts use the field's vocabulary: ``python -m tools.words``.

Reads every identifier of Python and Rust, split at underscores and capitals, every text, and the
prose for readers of the source: docstrings, comments and templates. `tools/words.toml` has the
words that count as private vocabulary, and the keys of users' files that keep one. A parameter, a
loop variable and an assigned name of Python are nouns of what they hold. Of tests only the
identifiers are read. The check prints every use and fails if there is any.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SETTINGS = Path(__file__).with_suffix(".toml")
TESTS = "tests"
FOLDERS = ("python", "plugins", "crates", "tools", "benches", TESTS)

_GENERATED = ".bundle.js"
"""Ending of generated files: the chart library of `tools.bundle`."""

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_RUST_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_RUST_TEXT = re.compile(r'b?"(?:\\.|[^"\\])*"', re.DOTALL)

Place = tuple[str, str]
"""A word, and ``path:line`` of its use."""

Line = tuple[int, str]


class Source(NamedTuple):
    """The lines of a file: names (its own among them), parameters, variables, texts, and prose."""

    names: list[Line]
    parameters: list[Line]
    variables: list[Line]
    texts: list[Line]
    prose: list[Line]


def main() -> int:
    """Print every use; return the exit code."""
    places = list(find_places(tomllib.loads(SETTINGS.read_text("utf-8"))))
    for word, place in places:
        print(f"{place}: `{word}` is not the field's word; see CONTRIBUTING.md, Words")
    return 1 if places else 0


def find_places(settings: dict[str, dict[str, list[str]]]) -> Iterator[Place]:
    """Every use of a word of the list in the sources of the package, the crates and the tools."""
    words, allowed = settings["words"], settings["allowed"]
    text_words = _any_word(words["texts"])
    prose_words = _any_word([*words["texts"], *words["prose"]])
    keys = re.compile(rf"\b(?:{'|'.join(allowed['keys'])}): ")
    for name, source in _sources():
        for line, identifier in source.names:
            uses = sorted(_split(identifier) & set(words["identifiers"]))
            yield from ((word, f"{name}:{line}: {identifier}") for word in uses)
        for line, parameter in source.parameters:
            if parameter in words["parameters"]:
                yield parameter, f"{name}:{line}: a parameter is a noun"
        for line, variable in source.variables:
            if variable in words["variables"]:
                yield variable, f"{name}:{line}: a variable is a noun"
        texts = [entry for entry in source.texts if entry[1] not in allowed["texts"]]
        for banned, lines in ((text_words, texts), (prose_words, source.prose)):
            for line, text in lines:
                uses = banned.findall(keys.sub("", text))
                yield from ((word.lower(), f"{name}:{line}: {text!r}") for word in uses)


def _any_word(words: list[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(words)})\b", re.I)


def _sources() -> Iterator[tuple[str, Source]]:
    """Yield the path of each file, and what it has."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = str(path.relative_to(ROOT))
            skipped = path == Path(__file__) or name.endswith(_GENERATED)
            if path.suffix in _READERS and not skipped:
                source = _READERS[path.suffix](path.read_text("utf-8"))
                source.names.append((1, path.stem))
                yield name, Source(source.names, [], [], [], []) if folder == TESTS else source


def _split(identifier: str) -> set[str]:
    return {part.lower() for part in _PARTS.findall(identifier)}


def _python(code: str) -> Source:
    """Read names where they are defined, texts, docstrings and comments."""
    source = Source([], [], [], [], _python_comments(code))
    docstrings: set[int] = set()
    fields: set[int] = set()
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.FunctionDef(args=given):
                source.names.append((node.lineno, node.name))
                source.parameters.extend(
                    (name.lineno, name.arg) for name in (*given.args, *given.kwonlyargs)
                )
            case ast.AsyncFunctionDef():
                source.names.append((node.lineno, node.name))
            case ast.ClassDef():
                source.names.append((node.lineno, node.name))
                fields |= {
                    id(field.target) for field in node.body if isinstance(field, ast.AnnAssign)
                }
            case ast.arg():
                source.names.append((node.lineno, node.arg))
            case ast.Name(ctx=ast.Store()):
                source.names.append((node.lineno, node.id))
                if id(node) not in fields:
                    source.variables.append((node.lineno, node.id))
            case ast.Attribute(ctx=ast.Store()):
                source.names.append((node.lineno, node.attr))
            case ast.Expr(value=ast.Constant(value=str() as value) as text):
                docstrings.add(id(text))
                source.prose.extend(enumerate(value.splitlines(), node.lineno))
            case ast.Constant(value=str() as value) if id(node) not in docstrings:
                source.texts.append((node.lineno, value))
    return source


def _python_comments(code: str) -> list[Line]:
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]


def _rust(code: str) -> Source:
    """Read names after the keywords that define them, comments, and texts outside of tests."""
    prose = [(_line(code, match), match[0]) for match in _RUST_COMMENT.finditer(code)]
    code = _RUST_COMMENT.sub(_line_ends, code)
    tested = code.partition("#[cfg(test)]")[0]
    texts = [(_line(tested, match), match[0]) for match in _RUST_TEXT.finditer(tested)]
    code = _RUST_TEXT.sub(lambda match: '""' + _line_ends(match), code)
    defined = re.finditer(
        r"\b(?:fn|struct|enum|trait|type|mod|const|static|let(?: mut)?) (\w+)|(\w+): ", code
    )
    names = [(_line(code, match), match[1] or match[2]) for match in defined]
    return Source(names, [], [], texts, prose)


def _template(text: str) -> Source:
    """Read a template of the HTML report: all of it is prose."""
    return Source([], [], [], [], list(enumerate(text.splitlines(), 1)))


_READERS = {
    ".py": _python,
    ".rs": _rust,
    **dict.fromkeys((".html", ".js", ".css"), _template),
}


def _line_ends(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _line(code: str, match: re.Match[str]) -> int:
    return code.count("\n", 0, match.start()) + 1


if __name__ == "__main__":
    sys.exit(main())
