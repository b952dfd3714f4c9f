"""Measure the structure of the program against its limits: ``python -m tools.structure``.

pyproject.toml has the limits, and names folders of `crates` that are of plugins. The core is
`python/iostudy`, and the rest of `crates`. Code decides by the
kind of a target if it tests for a class of `study/targets/` outside the folders of targets. It
decides by the mode of a study if a condition has its design, or names a mode, outside the files of
modes. The check fails if a measure exceeds its limit.
"""

from __future__ import annotations

import ast
import fnmatch
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "iostudy"
CRATES = ROOT / "crates"
_APPENDICES = (
    "decisions/", "method/", "telemetry/", "simulator/", "schedulers-specification", "fleet/",
    "drives/", "security/", "settings/", "workloads/",
)  # fmt: skip
_GENERATED_PART = re.compile(r"<!-- [^>]*: written by .*?<!-- end -->", re.DOTALL)
_GENERATED = ("settings.md", "workloads.md", "doctor.md", "performance.md")
TARGETS = ("study/targets/", "node/targets/")
"""The folders in which the kind of a target is known."""
_TARGET_CLASS = re.compile(r"[A-Z]\w*(?:Target|Members|Disks)")
_MODE_FIELD = "design"
_MODE_NAMES = {"TRIALS", "WINDOWS"}
_MODES = (
    "study/mode.py",
    "execution/strategies.py",
    "report/topics/switchback*",
    "cli/mode_text.py",
)
"""The files of one mode, and those that know all of the core."""


def main() -> int:
    """Print every measure with its limit; return the exit code."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["structure"]
    limits: Mapping[str, int] = settings["limits"]
    measured = measure(settings["rust_of_plugins"])
    exceeded = False
    for name, limit in limits.items():
        exceeded |= measured[name] > limit
        text = "exceeds" if measured[name] > limit else "of at most"
        print(f"{name.replace('_', ' ')}: {measured[name]:,} {text} {limit:,}")
    return 1 if exceeded else 0


def measure(rust_of_plugins: Sequence[str]) -> dict[str, int]:
    """Return every measure by its name."""
    core = _files(PACKAGE, "py")
    crates = [file for file in _files(CRATES, "rs") if not file.startswith(tuple(rust_of_plugins))]
    return {
        "core_python_lines": sum(_count_lines(PACKAGE / name) for name in core),
        "core_python_files": len(core),
        "core_rust_lines": sum(_count_lines(CRATES / name) for name in crates),
        "imports_beyond_the_core": sum(map(_count_imports_of_plugins, core)),
        "sites_by_kind_of_target": len(list(_target_sites())),
        "sites_by_mode": len(list(_mode_sites())),
        "widest_constructor": max(_constructor_widths()),
        "readme_lines": _count_lines(ROOT / "README.md"),
        "documentation_words": sum(map(_count_words, _list_guides())),
    }


def _list_guides() -> Iterator[Path]:
    """Yield the pages that are written to be read: no appendix, decision or generated reference."""
    for page in (ROOT / "docs").rglob("*.md"):
        name = str(page.relative_to(ROOT / "docs"))
        if not name.startswith(_APPENDICES) and name not in _GENERATED:
            yield page


def _count_words(page: Path) -> int:
    """Return the words of a page outside what is generated in it."""
    return len(_GENERATED_PART.sub("", page.read_text("utf-8")).split())


@cache
def _tree(name: str) -> ast.Module:
    return ast.parse((PACKAGE / name).read_text("utf-8"))


def _files(folder: Path, suffix: str) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob(f"*.{suffix}"))


def _count_lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def _matches(name: str, globs: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in globs)


def _count_imports_of_plugins(name: str) -> int:
    modules = (node.module for node in ast.walk(_tree(name)) if isinstance(node, ast.ImportFrom))
    return sum((module or "").startswith("iostudy_") for module in modules)


def _target_sites() -> Iterator[tuple[str, int]]:
    """Yield each case of a match, and each isinstance, for a class of targets."""
    for name in _files(PACKAGE, "py"):
        if name.startswith(TARGETS):
            continue
        for node in ast.walk(_tree(name)):
            match node:
                case ast.match_case(pattern=pattern):
                    tested = [p.cls for p in ast.walk(pattern) if isinstance(p, ast.MatchClass)]
                case ast.Call(func=ast.Name(id="isinstance"), args=[_, kind]):
                    tested = [kind]
                case _:
                    continue
            if any(_names_target(expression) for expression in tested):
                yield name, tested[0].lineno


def _names_target(expression: ast.expr) -> bool:
    names = {n.id for n in ast.walk(expression) if isinstance(n, ast.Name)}
    return bool(names & _target_classes())


@cache
def _target_classes() -> set[str]:
    """Return the names of the classes that the specs define."""
    trees = [_tree(name) for name in _files(PACKAGE, "py") if name.startswith("study/targets/")]
    nodes: list[Any] = [node for tree in trees for node in tree.body]
    classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    unions = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return {name for name in classes | unions if _TARGET_CLASS.fullmatch(name)}


def _mode_sites() -> Iterator[tuple[str, int, int]]:
    """Yield each condition on the design of a study, and each that names a mode."""
    for name in _files(PACKAGE, "py"):
        if _matches(name, _MODES):
            continue
        sites = set()
        for node in ast.walk(_tree(name)):
            for condition in _conditions(node):
                sites |= {
                    (n.lineno, n.col_offset) for n in ast.walk(condition) if _asks_for_mode(n)
                }
        yield from ((name, *place) for place in sorted(sites))


def _asks_for_mode(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr=name):
            return name == _MODE_FIELD
        case ast.Name(id=name):
            return name in _MODE_NAMES
    return False


def _conditions(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield test
        case ast.comprehension(ifs=tests) | ast.BoolOp(values=tests):
            yield from tests
        case ast.Compare(left=left, comparators=others):
            yield from (left, *others)
        case ast.match_case(pattern=pattern):
            yield from (p.value for p in ast.walk(pattern) if isinstance(p, ast.MatchValue))


def _constructor_widths() -> Iterator[int]:
    """Yield the numbers of parameters of every ``__init__``."""
    for name in _files(PACKAGE, "py"):
        for node in ast.walk(_tree(name)):
            if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                given = node.args
                yield len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs) - 1


if __name__ == "__main__":
    sys.exit(main())
