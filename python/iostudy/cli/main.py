"""The program: its commands, its exit codes, and the one place where errors are printed."""

from __future__ import annotations

import errno
import signal
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from iostudy.cli import (
    bench,
    check,
    compare,
    doctor,
    get,
    hadoop,
    persist,
    power,
    report,
    restore,
    run,
    schema,
    selftest,
    settings,
    watch,
    workloads,
)
from iostudy.cli import set as set_
from iostudy.cli.console import say, stand_in_for_closed
from iostudy.cli.leftovers import mend
from iostudy.cli.signals import EndedBySignal, ignore, install
from iostudy.errors import IostudyError, RestoreError, TargetError
from iostudy.settings.transaction import restore_open

_OF_A_PATH = (errno.EACCES, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR)
"""Why a path cannot even be looked at: path_resolution(7). ENOENT is each command's own to tell."""

EXIT_CODES = (
    "Exit codes: 0 done, 1 a verdict that --fail-on names or a selftest that failed, 2 usage, "
    "3 a trial failed, a setting was refused or a result could not be written, 4 something could "
    "not be restored, 5 a selftest that the noise leaves undecided, 129, 130, 141 and 143 signals."
)

_MEND_THEMSELVES = ("restore", "hadoop")

app = typer.Typer(
    name="iostudy",
    help="Which storage configuration is fastest for my workload, and is the difference real?",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("check")(check.check)
app.command("power")(power.power)
app.command("run")(run.run)
app.command("report")(report.report)
app.command("compare")(compare.compare)
app.command("persist")(persist.persist)
app.command("bench")(bench.bench)
app.command("selftest")(selftest.selftest)
app.command("doctor")(doctor.doctor)
app.command("watch", cls=watch.WatchCommand)(watch.watch)
app.command("get")(get.get)
app.command("set")(set_.set_)
app.command("restore")(restore.restore)
app.command("settings")(settings.settings)
app.command("workloads")(workloads.workloads)
app.command("schema")(schema.schema)
app.add_typer(hadoop.app, name="hadoop")


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer's callback
    if wanted:
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
    if command is not None and command not in _MEND_THEMSELVES:
        mend(command)


def main() -> None:
    """Run a command and end with its exit code (see errors.py; 128 and its number for a signal).

    What is still changed when the command has ended is put back here. What could not be put back
    tells more than a signal that came meanwhile: the exit code is then NOT_RESTORED.
    """
    stand_in_for_closed()
    install()
    try:
        try:
            _app()
        finally:
            ignore()
            restore_open()
    except IostudyError as error:
        say(f"iostudy: {error}")
        sys.exit(error.exit_code)
    except EndedBySignal as ended:
        failure = _not_restored(ended)
        if failure is None:
            sys.exit(ended.exit_code)
        say(f"iostudy: {failure}")
        sys.exit(failure.exit_code)
    except OSError as error:
        unreachable = _unreachable(error)
        if unreachable is None:
            raise
        say(f"iostudy: {unreachable}")
        sys.exit(unreachable.exit_code)


def _app() -> None:
    """The command; EndedBySignal also where nobody reads what Click itself prints, as help.

    Click then exits with 1, as if the command had failed.
    """
    try:
        app()
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):
            raise EndedBySignal(signal.SIGPIPE) from ended.__context__
        raise


def _unreachable(error: OSError) -> TargetError | None:
    """What to tell of a path that cannot be looked at; None if the error is none of a path.

    Paths come into every command, and each look at one may fail so: hence here, and once.
    """
    if error.errno not in _OF_A_PATH or error.filename is None:
        return None
    return TargetError(
        "to look at a path",
        found=str(error.strerror),
        where=str(error.filename),
        remedy="name another path, or run it as a user who may enter its folders",
    )


def _not_restored(ended: EndedBySignal) -> RestoreError | None:
    """The failure to put something back during which the signal came, if there is one."""
    error: BaseException | None = ended
    while error is not None and not isinstance(error, RestoreError):
        error = error.__context__
    return error
