"""Table of sockets, temporary names, deserializers and child processes, from the source code.

Each file that imports one of the modules below has a row that says who reaches it. A file without a
row, and a row without a file, are errors, so that a new one is judged before it is merged.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tools.docs.attack_surface_rows import ROWS, Kind

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/security/attack-surface.md"
_BEGIN, _END = "<!-- attack surface: written by make docs -->\n", "<!-- end -->\n"
_PYTHON = ROOT / "python/iostudy"
_MODULES = {
    Kind.SOCKET: (
        "socket", "socketserver", "http.server", "distributed",
        "multiprocessing.connection",
    ),
    Kind.TEMPORARY: ("tempfile", "secrets"),
    Kind.DESERIALIZER: (
        "pickle", "cloudpickle", "multiprocessing.connection", "marshal", "shelve", "dill",
        "joblib", "msgpack", "yaml", "ruamel", "sqlite3", "xml", "lxml", "arro3.io", "tomllib",
        "configparser", "plistlib", "numpy.lib.format",
    ),
    Kind.CHILD: ("subprocess", "multiprocessing", "pty"),
}  # fmt: skip
_CALLS = {
    "start_server": Kind.SOCKET,
    "start_unix_server": Kind.SOCKET,
    "fork": Kind.CHILD,
    "execv": Kind.CHILD,
    "execve": Kind.CHILD,
    "posix_spawn": Kind.CHILD,
    "eval": Kind.DESERIALIZER,
    "exec": Kind.DESERIALIZER,
}
_ANY_NAME = re.compile(
    rf"\b({'|'.join(_CALLS)}|"
    rf"{'|'.join(name.rpartition('.')[2] for names in _MODULES.values() for name in names)})\b"
)
"""Every import and call of these kinds has one of these names in its line."""
_RUST = {
    Kind.SOCKET: re.compile(r"\b(Unix|Tcp)Listener::bind|\bUdpSocket::bind"),
    Kind.CHILD: re.compile(r"\bCommand::new\("),
    Kind.TEMPORARY: re.compile(r"\btempfile::|\btemp_dir\("),
}


def write_page() -> str:
    """Return the page with its table; ValueError names files without a row, and the reverse."""
    sites = set(_find_sites())
    rowed = {(row.kind, file) for row in ROWS for file in row.files}
    if sites != rowed:
        new = sorted(f"{kind.value}: {file} has no row" for kind, file in sites - rowed)
        gone = sorted(
            f"{kind.value}: {file} is in a row without need" for kind, file in rowed - sites
        )
        raise ValueError("tools/docs/attack_surface_rows.py: " + "; ".join(new + gone))
    before, _, rest = (ROOT / PAGE).read_text("utf-8").partition(_BEGIN)
    return before + _BEGIN + _format_table() + _END + rest.partition(_END)[2]


def _format_table() -> str:
    lines = ["| kind | what | files | who reaches it |", "|---|---|---|---|"]
    for row in ROWS:
        files = ", ".join(f"`{file}`" for file in row.files)
        lines.append(f"| {row.kind.value} | {row.what} | {files} | {row.reach} |")
    return "\n".join(lines) + "\n"


def _find_sites() -> Iterator[tuple[Kind, str]]:
    for folder in (_PYTHON, *sorted((ROOT / "plugins").iterdir())):
        for path in sorted(folder.rglob("*.py")):
            text = path.read_text("utf-8")
            if not _ANY_NAME.search(text):
                continue  # most files: to parse them takes seconds
            tree = ast.parse(text)
            for kind in {kind for node in ast.walk(tree) for kind in _list_kinds(node)}:
                yield kind, str(path.relative_to(folder))
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        text = path.read_text("utf-8").partition("#[cfg(test)]")[0]
        for kind, pattern in _RUST.items():
            if pattern.search(text):
                yield kind, str(path.relative_to(ROOT))


def _list_kinds(node: ast.AST) -> Iterator[Kind]:
    match node:
        case ast.Import(names=names):
            imported = [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), names=names, level=0):
            imported = [module, *(f"{module}.{alias.name}" for alias in names)]
        case ast.Call(func=ast.Attribute(attr=str(called)) | ast.Name(id=str(called))):
            if called in _CALLS:
                yield _CALLS[called]
            return
        case _:
            return
    for kind, modules in _MODULES.items():
        if any(f"{name}.".startswith(f"{module}.") for name in imported for module in modules):
            yield kind
