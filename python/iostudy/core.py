"""The core as the first plugin."""

from __future__ import annotations

from iostudy.plugins import Command, Plugin, Ref, installed, list_usable


def _command(name: str, summary: str, ref: Ref = "", /, **flags: bool) -> Command:
    return Command(name, summary, f"iostudy.cli.{ref or f'{name}:{name}'}", **flags)


_READS = {"analyzes": True}
_RUNS = {"analyzes": True, "changes_host": True}
_COMMANDS = (
    _command(
        "try",
        "Compare commands, or values of settings, in one line.",
        "try_study:try_study",
        takes_command_line=True,
        analyzes=True,
        restores=True,
    ),
    _command("init", "Write a commented study file for this host."),
    _command("check", "Validate a study; print its plan, changes and time."),
    _command("power", "Measure the baseline's noise; print what a study can detect.", **_RUNS),
    _command("run", "Run a study; write its report and its ledger.", **_RUNS),
    _command(
        "report-study",
        "Repeat a published field report by its studies.",
        "report_study:report_study",
        analyzes=True,
        restores=True,
    ),
    _command("report", "Print the report of a study, or published figures.", **_READS),
    _command(
        "list", "List studies with their answers, the newest first.", "list_studies:list_studies"
    ),
    _command("clean", "Remove output folders without a finished trial.", "list_studies:clean"),
    _command("compare", "Compare two studies, of two days or two hosts.", **_READS),
    _command("persist", "Keep settings permanently: print the files, or install them.", **_READS),
    _command(
        "bench", "Run one workload once and print its figures.", "bench.command:bench", **_RUNS
    ),
    _command("selftest", "Check on this machine that known slow-downs are detected.", **_RUNS),
    _command("doctor", "Show the storage stack, its faults and their remedies."),
    _command("get", "Read settings of devices, mounts or the host.", "settings:get"),
    _command(
        "set", "Change settings; `iostudy restore` undoes them.", "settings:set_", changes_host=True
    ),
    _command("restore", "Restore what `set` or a killed command has changed.", restores=True),
    _command("settings", "List the settings, or describe some."),
    _command("workloads", "List the workloads, or describe one."),
    _command("schema", "Print the JSON Schema of study files, for editors.", "init:schema"),
)
CORE = Plugin("core", _COMMANDS)


def registered() -> tuple[Plugin, ...]:
    """Return the core and its plugins, in the order of the help."""
    return (CORE, *installed())


def find_undo(kind: str) -> tuple[Ref, Ref]:
    """Return the references of a kind of change and of an owner of attributes; "" for neither.

    A plugin that cannot be used must not keep the others from restoring what they changed;
    UsageError names it if no other one has the kind.
    """
    for plugin in list_usable():
        if kind in plugin.changes or kind in plugin.owners:
            return plugin.changes.get(kind, ""), plugin.owners.get(kind, "")
    installed()
    return "", ""
