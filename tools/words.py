"""Check that identifiers and texts use the field's vocabulary: ``python -m tools.words``.

Reads every identifier of Python and Rust, split at underscores and capitals, and every text that is
not a docstring. `tools/words.toml` has the words that count as private vocabulary, and the keys of
users' files that keep one. The check prints every use and fails if there is any.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SETTINGS = Path(__file__).with_suffix(".toml")
FOLDERS = ("python", "crates", "tools")

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_RUST_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_RUST_TEXT = re.compile(r'b?"(?:\\.|[^"\\])*"', re.DOTALL)

Place = tuple[str, str]
"""A word, and ``path:line`` of its use."""


def main() -> int:
    """Print every use; return the exit code."""
    places = list(find_places(tomllib.loads(SETTINGS.read_text("utf-8"))))
    for word, place in places:
        print(f"{place}: `{word}` is not the field's word; see CONTRIBUTING.md, Words")
    return 1 if places else 0


def find_places(settings: dict[str, dict[str, list[str]]]) -> Iterator[Place]:
    """Every use of a word of the list in the sources of the package, the crates and the tools."""
    words, allowed = settings["words"], settings["allowed"]
    banned = re.compile(rf"\b(?:{'|'.join(words['texts'])})\b", re.I)
    keys = re.compile(rf"\b(?:{'|'.join(allowed['keys'])}): ")
    for name, names, texts in _sources():
        for line, identifier in names:
            if f"{name}: {identifier}" not in allowed["identifiers"]:
                found = sorted(_split(identifier) & set(words["identifiers"]))
                yield from ((word, f"{name}:{line}: {identifier}") for word in found)
        for line, text in texts:
            if text not in allowed["texts"]:
                found = banned.findall(keys.sub("", text))
                yield from ((word.lower(), f"{name}:{line}: {text!r}") for word in found)


def _sources() -> Iterator[tuple[str, list[tuple[int, str]], list[tuple[int, str]]]]:
    """Yield the path of each file, its names (its own among them) and its texts."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".rs") and path != Path(__file__):
                read = _python if path.suffix == ".py" else _rust
                names, texts = read(path.read_text("utf-8"))
                yield str(path.relative_to(ROOT)), [*names, (1, path.stem)], texts


def _split(identifier: str) -> set[str]:
    return {part.lower() for part in _PARTS.findall(identifier)}


Found = tuple[list[tuple[int, str]], list[tuple[int, str]]]


def _python(source: str) -> Found:
    """Names where they are defined, and texts without docstrings."""
    tree = ast.parse(source)
    names: list[tuple[int, str]] = []
    texts: list[tuple[int, str]] = []
    skipped: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.append((node.lineno, node.name))
            case ast.arg():
                names.append((node.lineno, node.arg))
            case ast.Name(ctx=ast.Store()):
                names.append((node.lineno, node.id))
            case ast.Attribute(ctx=ast.Store()):
                names.append((node.lineno, node.attr))
            case ast.Expr(value=ast.Constant() as text):
                skipped.add(id(text))
            case ast.Constant(value=str() as value) if id(node) not in skipped:
                texts.append((node.lineno, value))
    return names, texts


def _rust(source: str) -> Found:
    """Names after the keywords that define them, and texts; without tests."""
    code = _RUST_COMMENT.sub(lambda found: "\n" * found[0].count("\n"), source)
    code = code.partition("#[cfg(test)]")[0]
    texts = [(_line(code, found), found[0]) for found in _RUST_TEXT.finditer(code)]
    code = _RUST_TEXT.sub(lambda found: '""' + "\n" * found[0].count("\n"), code)
    defined = re.finditer(
        r"\b(?:fn|struct|enum|trait|type|mod|const|static|let(?: mut)?) (\w+)|(\w+): ", code
    )
    return [(_line(code, found), found[1] or found[2]) for found in defined], texts


def _line(code: str, found: re.Match[str]) -> int:
    return code.count("\n", 0, found.start()) + 1


if __name__ == "__main__":
    sys.exit(main())
