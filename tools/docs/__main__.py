"""Write the generated pages and schemas: ``python -m tools.docs [--check]``.

With ``--check`` nothing is written; the exit code is 1 if a file is stale.
"""

from __future__ import annotations

import sys

from tools.docs.documents import ROOT, stale


def main(arguments: list[str]) -> int:
    """Write the stale files, or list them with ``--check``."""
    check = arguments == ["--check"]
    if arguments and not check:
        print("usage: python -m tools.docs [--check]", file=sys.stderr)
        return 2
    files = stale()
    for path, text in files.items():
        if not check:
            (ROOT / path).write_text(text, "utf-8")
        print(f"{path}: stale; `make docs` writes it" if check else f"{path}: written")
    return 1 if check and files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
