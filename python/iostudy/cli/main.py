"""Program entry point: commands, exit codes and the printing of errors.

UTF-8 arguments, memory and threads are checked before a command starts: libraries end the whole
process where a limit denies them a thread or memory (OpenBLAS by SIGINT or exit code 1, Rust by
SIGABRT), and no error can be reported then.
"""

from __future__ import annotations

import os
import resource
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Annotated

import typer

from iostudy.cli.commands import LazyGroup, find_command, register
from iostudy.cli.console import say
from iostudy.cli.failures import explain
from iostudy.cli.signals import EndedBySignal, ignore_signals, install_handlers, signal_wakeups
from iostudy.cli.stale_changes import recover_stale_changes
from iostudy.cli.streams import STDERR, flush_streams, prepare_streams
from iostudy.errors import INTERNAL, IostudyError, ResourceError, RestoreError, UsageError
from iostudy.units import MIB

EXIT_CODES = (
    "Exit codes: 0 success, 1 a verdict that --fail-on names or a selftest that failed, 2 usage, "
    "3 a trial failed, a setting was refused or a result could not be written, 4 a change could "
    "not be restored, 5 an inconclusive selftest, 70 an internal error, "
    "129, 130, 141 and 143 signals."
)

_TRANSACTION = "iostudy.settings.transaction.transaction"

app = typer.Typer(
    name="iostudy",
    cls=LazyGroup,
    help="Which storage configuration is fastest for my workload, and is the difference real?",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
register(app)


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer's callback
    if wanted:
        from importlib.metadata import version

        typer.echo(f"iostudy {version('iostudy')}")
        raise typer.Exit


@app.callback()
def before_every_command(
    context: typer.Context,
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Which storage configuration is fastest for my workload, and is the difference real?"""
    command = find_command(context.invoked_subcommand)
    if command is None:
        return
    if command.analyzes:
        require_utf8(sys.argv)
        require_resources()
    if not command.restores:
        recover_stale_changes(must_succeed=command.changes_host)


def main() -> None:
    """Run a command and exit with its code (see errors.py; 128 + number for a signal).

    No exception escapes: an unexpected one, or a Rust panic, becomes an InternalError.
    """
    prepare_streams()
    with signal_wakeups():
        install_handlers()
        try:
            code = _run()
        except BaseException as error:  # noqa: BLE001 - pyo3's PanicException is no Exception
            code = _report_error(error)
    sys.exit(code)


def _run() -> int:
    """Run the command that the arguments name and return its exit code.

    Changes that are still open when the command ends are restored here. A failed restore takes
    precedence over a signal: the exit code is then NOT_RESTORED.
    """
    code = 0
    try:
        app(prog_name="iostudy")
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    finally:
        ignore_signals()
        _restore_open_transactions()
    flush_streams()
    return code


def _restore_open_transactions() -> None:
    """Restore open transactions; there are none if their module was never imported."""
    if _TRANSACTION in sys.modules:
        import_module(_TRANSACTION).restore_open()


def _report_error(error: BaseException) -> int:
    """Print an error and return its exit code, also if printing fails: never 1, a verdict's."""
    try:
        return _print_error(error)
    except BaseException as second:  # noqa: BLE001 - nothing is left to report it to
        text = "".join(traceback.format_exception(second))
        with suppress(OSError):
            os.write(STDERR, text.encode("ascii", "backslashreplace"))
        return INTERNAL


def _print_error(error: BaseException) -> int:
    """Print an error and return its exit code."""
    if isinstance(error, EndedBySignal):
        failure: IostudyError | None = _find_restore_error(error)
    else:
        failure = error if isinstance(error, IostudyError) else explain(error)
    if failure is not None:
        say(f"iostudy: {failure}")
        return failure.exit_code
    assert isinstance(error, EndedBySignal)
    return error.exit_code


def _find_restore_error(ended: EndedBySignal) -> RestoreError | None:
    """Return the RestoreError during which the signal arrived, if any."""
    error: BaseException | None = ended
    while error is not None and not isinstance(error, RestoreError):
        error = error.__context__
    return error


_THREADS, _THREADS_PER_CPU = 8, 4
"""Pools of OpenBLAS and the charts have a thread for each CPU, the rest is a few."""
_ADDRESS_SPACE, _ADDRESS_SPACE_PER_CPU = 1440 * MIB, 256 * MIB
"""Measured with 2 CPUs: 1543 MiB (ulimit -v 1580000) end `report` by SIGABRT, 1611 MiB do not."""


def require_utf8(arguments: Sequence[str]) -> None:
    """UsageError for an argument that is not UTF-8, which reports could not name.

    Commands without reports accept any name that the kernel accepts.
    """
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            raise UsageError(
                "arguments in UTF-8",
                found=repr(os.fsencode(argument))[1:],
                where="the command line",
                remedy="give names in UTF-8, and paths through a folder or link that has one",
            ) from error


def require_resources() -> None:
    """ResourceError where a limit would end a command that analyzes without an error."""
    cpus = len(os.sched_getaffinity(0))
    _require_address_space(_ADDRESS_SPACE + cpus * _ADDRESS_SPACE_PER_CPU)
    _require_threads(_THREADS + cpus * _THREADS_PER_CPU)


def _require_address_space(least_bytes: int) -> None:
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < least_bytes:
        raise ResourceError(
            f"{least_bytes // MIB} MiB of address space",
            found=f"a limit of {limit // MIB} MiB",
            where="the limits of this process (RLIMIT_AS)",
            remedy="raise the limit (ulimit -v)",
        )


def _require_threads(least: int) -> None:
    """Start so many threads, which end at once: no limit can be computed from all that apply."""
    finish = threading.Event()
    threads = [threading.Thread(target=finish.wait, daemon=True) for _ in range(least)]
    started = 0
    try:
        for thread in threads:
            thread.start()
            started += 1
    except RuntimeError as error:
        raise ResourceError(
            f"{least} threads",
            found=f"{started} could be started, and the next was refused: {error}",
            where="the limits of this process and of its control group",
            remedy="raise the limit of processes (ulimit -u, pids.max of the control group)",
        ) from error
    finally:
        finish.set()
        for thread in threads[:started]:
            thread.join()
