"""The program: its commands, its exit codes, and the one place where errors are printed."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated

import typer

from iostudy.cli.commands import LazyGroup, register
from iostudy.cli.console import say
from iostudy.cli.failures import explain
from iostudy.cli.requirements import require_room, require_utf8
from iostudy.cli.signals import EndedBySignal, ignore, install
from iostudy.cli.stale_changes import recover_stale_changes
from iostudy.cli.streams import flush_streams, prepare_streams
from iostudy.errors import IostudyError, RestoreError

EXIT_CODES = (
    "Exit codes: 0 done, 1 a verdict that --fail-on names or a selftest that failed, 2 usage, "
    "3 a trial failed, a setting was refused or a result could not be written, 4 something could "
    "not be restored, 5 a selftest that the noise leaves undecided, 70 a defect of iostudy, "
    "129, 130, 141 and 143 signals."
)

_TRANSACTION = "iostudy.settings.transaction.transaction"
_MEND_THEMSELVES = ("restore", "hadoop")

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
        typer.Option("--version", callback=_version, is_eager=True, help="Print it and exit."),
    ] = False,
) -> None:
    """Which storage configuration is fastest for my workload, and is the difference real?"""
    command = context.invoked_subcommand
    require_room(command)
    if command is not None and command not in _MEND_THEMSELVES:
        recover_stale_changes(command)


def main() -> None:
    """Run a command and end with its exit code (see errors.py; 128 and its number for a signal).

    No exception leaves it: one that nothing foresaw is an InternalError, also a panic of Rust code.
    """
    prepare_streams()
    install()
    try:
        code = _run()
    except BaseException as error:  # noqa: BLE001 - pyo3's PanicException is no Exception
        code = _report(error)
    sys.exit(code)


def _run() -> int:
    """The exit code of the command that the arguments name.

    What is still changed when the command has ended is restored here. What could not be restored
    says more than a signal that came meanwhile: the exit code is then NOT_RESTORED.
    """
    code = 0
    require_utf8(sys.argv)
    try:
        app(prog_name="iostudy")
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    finally:
        ignore()
        _restore_open()
    flush_streams()
    return code


def _restore_open() -> None:
    """Leave the open transactions; there are none where their module was not needed."""
    if _TRANSACTION in sys.modules:
        import_module(_TRANSACTION).restore_open()


def _report(error: BaseException) -> int:
    """Print an error; its exit code."""
    if isinstance(error, EndedBySignal):
        failure: IostudyError | None = _not_restored(error)
    else:
        failure = error if isinstance(error, IostudyError) else explain(error)
    if failure is not None:
        say(f"iostudy: {failure}")
        return failure.exit_code
    assert isinstance(error, EndedBySignal)
    return error.exit_code


def _not_restored(ended: EndedBySignal) -> RestoreError | None:
    """The failure to put something back during which the signal came, if there is one."""
    error: BaseException | None = ended
    while error is not None and not isinstance(error, RestoreError):
        error = error.__context__
    return error
