"""Check that identifiers and texts use the field's vocabulary: ``python -m tools.words [--count]``.

Reads every identifier of Python and Rust, split at underscores and capitals, and every text that is
not a docstring. `tools/words.toml` has the words that count as private vocabulary, the names that
files and options of users have, and the ceiling of each word. The check fails above a ceiling.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter
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


def main(arguments: list[str]) -> int:
    """Check the ceilings, or do what an option says.

    ``--count`` prints the counts, ``--list WORD...`` every use, ``--lower`` lowers the ceilings.
    """
    settings = tomllib.loads(SETTINGS.read_text("utf-8"))
    places = list(find_places(settings))
    counts = Counter(word for word, _ in places)
    if arguments[:1] == ["--list"]:
        print("\n".join(place for word, place in places if word in arguments[1:]))
        return 0
    if arguments == ["--count"]:
        for word, count in counts.most_common():
            print(f"{count:6} {word}")
        print(f"{counts.total():6} in all")
        return 0
    if arguments == ["--lower"]:
        _lower(counts, settings)
        return 0
    return _check(counts, settings)


def find_places(settings: dict[str, dict[str, object]]) -> Iterator[Place]:
    """Every use of a word of the list in the sources of the package, the crates and the tools."""
    allowed = frozenset(map(str, settings["allowed"]["identifiers"]))
    in_names = frozenset(map(str, settings["words"]["identifiers"]))
    in_texts = re.compile(rf"\b(?:{'|'.join(map(str, settings['words']['texts']))})\b", re.I)
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".py", ".rs") or path == Path(__file__):
                continue
            name = str(path.relative_to(ROOT))
            names, texts = (_python if path.suffix == ".py" else _rust)(path.read_text("utf-8"))
            for line, identifier in [*names, (1, path.stem)]:
                if identifier not in allowed:
                    yield from (
                        (w, f"{name}:{line}: {identifier}") for w in _split(identifier) & in_names
                    )
            for line, text in texts:
                if text not in allowed:
                    yield from (
                        (w.lower(), f"{name}:{line}: {text!r}") for w in in_texts.findall(text)
                    )


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


def _check(counts: Counter[str], settings: dict[str, dict[str, object]]) -> int:
    ceilings = {word: int(str(count)) for word, count in settings["ceilings"].items()}
    failed = {word: count for word, count in counts.items() if count > ceilings.get(word, 0)}
    for word, count in sorted(failed.items()):
        print(
            f"`{word}`: {count} uses, {ceilings.get(word, 0)} allowed; see CONTRIBUTING.md, Words"
        )
        print(f"    python -m tools.words --list {word}")
    return 1 if failed else 0


def _lower(counts: Counter[str], settings: dict[str, dict[str, object]]) -> None:
    """Write the counts as ceilings, except where they are above them."""
    old = {word: int(str(count)) for word, count in settings["ceilings"].items()}
    new = {word: min(count, old.get(word, count)) for word, count in sorted(counts.items())}
    head, heading, _ = SETTINGS.read_text("utf-8").partition("[ceilings]\n")
    lines = (f'"{word}" = {count}\n' for word, count in new.items())
    SETTINGS.write_text(head + heading + "".join(lines), "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
