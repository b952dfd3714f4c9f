"""Several commands in one interpreter, which takes longer to start than most commands take."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_SCRIPT = """\
import os, sys
from iostudy.cli.main import main
for words in {commands!r}:
    sys.argv = ["iostudy", *words]
    try:
        main()
    except SystemExit as ended:
        os.write(1, b"\\0%d\\0" % (ended.code or 0))
"""


def run_commands(
    commands: Sequence[Sequence[str]], folder: Path, environment: Mapping[str, str]
) -> list[tuple[int, str]]:
    """Return the exit code of each command, and what it printed to stdout and stderr."""
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT.format(commands=[*map(list, commands)])],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    *parts, rest = done.stdout.decode("utf-8", "replace").split("\0")
    assert (done.returncode, rest) == (0, ""), rest
    return [(int(code), text) for text, code in zip(parts[::2], parts[1::2], strict=True)]
