"""The program in a process of its own: a fork of this one, or a Python of its own.

An interpreter takes more than a second of processor time to import what a study needs. A fork has
imported it, and begins at once.
"""

from __future__ import annotations

import gc
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from subprocess import Popen
from typing import Any, NoReturn

_IMPORTED = (
    "iostudy.cli.main",
    "iostudy.cli.study_runner",
    "iostudy.cli.bench.command",
)
_CACHES_OF_SURROUNDINGS = (
    ("iostudy_hadoop.workloads.nnthroughput", "_software"),
    ("iostudy_trace.workload", "_load"),
)
_MOST_FILES = 1 << 20
Prepare = Callable[[], object]
_inherited: list[object] = []
"""Objects of the tests that a forked program never uses, and must not finalize."""


def start_interpreter(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    before: Prepare | None = None,
    **options: Any,
) -> Popen[Any]:
    """Start the program as a user does; ``before`` and ``options`` as for `start_forked`."""
    command = [sys.executable, "-m", "iostudy", *arguments]
    return Popen(command, cwd=folder, env=environment, preexec_fn=before, **options)  # noqa: PLW1509


def start_forked(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    before: Prepare | None = None,
    **options: Any,
) -> Popen[Any]:
    """Start the program in a fork: Popen calls a function before it executes, which never returns.

    ``before`` is called in the new process, and ``options`` are those of Popen.
    """
    for module in _IMPORTED:
        import_module(module)
    with warnings.catch_warnings():
        # Python 3.12 warns of each fork while other threads run, such as those of pytest-xdist.
        warnings.simplefilter("ignore", DeprecationWarning)
        return Popen(
            ["iostudy", *arguments],
            cwd=folder,
            preexec_fn=lambda: become_program(arguments, environment, before),  # noqa: PLW1509
            restore_signals=False,  # Python ignores SIGPIPE
            **options,
        )


def become_program(
    arguments: Sequence[str], environment: Mapping[str, str], before: Prepare | None = None
) -> NoReturn:
    """Turn this process into the program."""
    code = 1
    try:
        # One of them is Popen's own pipe: the process has begun when it is closed.
        os.closerange(3, _MOST_FILES)
        _forget_surroundings()
        gc.freeze()  # no finalizer of the tests' objects runs here
        gc.enable()
        os.environ.clear()
        os.environ.update(environment)
        if before is not None:
            before()
        sys.argv = ["iostudy", *arguments]
        sys.stdin, sys.stdout, sys.stderr = _open(0, "r"), _open(1, "w"), _open(2, "w")
        import_module("iostudy.cli.main").main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            sys.stderr.write(f"{ended.code}\n")
    except BaseException:  # noqa: BLE001 - printed as an interpreter does
        traceback.print_exc()
    finally:
        os._exit(code)


def _forget_surroundings() -> None:
    """Forget what the tests know of files, programs and clusters.

    Other caches hold results of pure functions, and what the installed plugins register.
    """
    # Connections to a cluster serve one process; these are closed, and kept from finalizers.
    if namespace := sys.modules.get("iostudy_hadoop.namespace"):
        _inherited.extend(namespace._connectors.values())
        namespace._connectors.clear()
    for module, function in _CACHES_OF_SURROUNDINGS:
        if module in sys.modules:
            getattr(sys.modules[module], function).cache_clear()


def _open(number: int, mode: str) -> Any:
    """Return a standard stream as an interpreter makes it: None if it is closed."""
    try:
        return os.fdopen(number, mode, buffering=1 if number == 2 else -1, closefd=False)
    except OSError:
        return None
