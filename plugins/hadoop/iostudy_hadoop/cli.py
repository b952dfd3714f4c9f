"""``iostudy hadoop``: manage a Hadoop cluster on this machine."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from iostudy.cli.arguments import Json, UnsafeFolders
from iostudy.cli.console import print_command, print_json, print_line, print_table, say
from iostudy.cli.stale_changes import recover_stale_changes, report_recovery
from iostudy.errors import TRIAL_FAILED, UsageError
from iostudy.folders import require_safe_folder
from iostudy.settings.transaction.recovery import Recovery
from iostudy.study.names import require_known
from iostudy.units import MIB
from iostudy_hadoop import user_cluster
from iostudy_hadoop.local.cluster import LocalCluster
from iostudy_hadoop.local.layout import NAMENODE, RESOURCEMANAGER
from iostudy_hadoop.local.persistence import stored_bytes
from iostudy_hadoop.namespace import INSIDE, enter
from iostudy_hadoop.spec import DEFAULT_VERSION, MAX_DATANODES, ClusterSpec

app = typer.Typer(
    name="hadoop",
    help="Manage a Hadoop cluster on this machine.",
    add_completion=False,
    rich_markup_mode=None,
)


DataNodes = Annotated[int, typer.Option(min=1, max=MAX_DATANODES, help="Number of DataNodes.")]
DataDirs = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="DIRECTORY",
        help="Block directory, assigned to DataNodes in turn; repeatable.",
        show_default="the state directory",
    ),
]
NameDirs = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="DIRECTORY",
        help="Directory for a full copy of the NameNode's journal; repeatable.",
        show_default="the state directory",
    ),
]
Yarn = Annotated[bool, typer.Option("--yarn", help="Run jobs in YARN, not in one process.")]
Version = Annotated[
    str | None,
    typer.Option(
        metavar="VERSION",
        help="Hadoop version.",
        show_default=f"that of HADOOP_HOME, or else {DEFAULT_VERSION}",
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option("-p", metavar="KEY=VALUE", help="A Hadoop property; repeatable."),
]


@app.callback(no_args_is_help=True)
def before_each(context: typer.Context) -> None:
    """Manage a Hadoop cluster on this machine.

    A study starts its own cluster.
    """
    recover_stale_changes(must_succeed=context.invoked_subcommand == "up")


@app.command("up")
def up(
    datanodes: DataNodes = 1,
    data_dir: DataDirs = None,
    name_dir: NameDirs = None,
    yarn: Yarn = False,
    version: Version = None,
    properties: Assignments = None,
    unsafe_folders: UnsafeFolders = False,
) -> None:
    """Start a cluster of real daemons, which runs until `iostudy hadoop down`."""
    spec = ClusterSpec(
        datanodes=datanodes,
        data_dirs=tuple(path.absolute() for path in data_dir or ()),
        name_dirs=tuple(path.absolute() for path in name_dir or ()),
        yarn=yarn,
        version=version,
        properties=_parse_properties(properties or ()),
    )
    for directory in spec.dirs:
        require_safe_folder(directory, insist=unsafe_folders, shared=True)
    began = time.monotonic()
    cluster = user_cluster.start(spec, say)
    seconds = time.monotonic() - began
    print_line(f"{cluster.layout.spec.describe()}: ready after {seconds:.1f} s", style="bold")
    _print_daemons(cluster)
    print_line("To use it:")
    print_command(shlex.join(["export", f"HADOOP_CONF_DIR={cluster.layout.job_conf}"]))
    print_command(f"iostudy bench hadoop.dfsio-write --target hdfs://{user_cluster.WORK_FOLDER}")
    print_command("iostudy hadoop exec hdfs dfs -ls /")
    say("it runs until `iostudy hadoop down`")


@app.command("status")
def status(json: Json = False) -> None:
    """Print whether all daemons of the cluster are up; exit code 3 if not."""
    cluster = user_cluster.find_cluster()
    stands = None if cluster is None else user_cluster.read_status(cluster)
    if json:
        print_json(_as_json(cluster, stands))
    elif cluster is None or stands is None:
        print_line("no cluster; `iostudy hadoop up` starts one")
    else:
        _print_status(cluster, stands)
    if stands is None or stands.lacks:
        raise typer.Exit(TRIAL_FAILED)


@app.command(
    "exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
def execute(
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND...", help="A program and its arguments.")
    ],
) -> None:
    """Run a command in the network namespace of the cluster, with its HADOOP_CONF_DIR.

    It runs as you, such as `hdfs` of your own Hadoop, or `curl` with an address of `status`.
    """
    cluster = user_cluster.find_cluster()
    if cluster is None:
        raise UsageError(
            "a cluster to run a command in",
            found="there is none",
            where=str(user_cluster.cluster_folder()),
            remedy="`iostudy hadoop up` starts one",
        )
    namespace = cluster.layout.namespace
    words = (*enter(namespace), *command)
    environment = {
        **os.environ,
        "HADOOP_CONF_DIR": str(cluster.layout.job_conf),
        INSIDE: str(namespace),
    }
    try:
        os.execvpe(words[0], words, environment)
    except OSError as error:
        raise UsageError(
            "a program that can be started",
            found=f"{words[0]}: {error.strerror}",
            where="the command line",
            remedy="install it (nsenter is in util-linux), or name its path",
        ) from error


@app.command("down")
def down() -> None:
    """Stop the cluster and remove its data; its logs are kept."""
    cluster = user_cluster.find_cluster()
    freed = "" if cluster is None else _format_usage(cluster)
    recovery = user_cluster.stop()
    for text in recovery.skip_reasons:
        say(f"left alone: {text}")
    report_recovery(recovery)
    if recovery == Recovery():
        say("no cluster to stop")
    elif not recovery.skip_reasons:
        say(f"freed: {freed}; logs are kept in {user_cluster.log_folder()}")


@app.command("logs")
def logs(
    daemon: Annotated[
        str | None, typer.Argument(help="Such as namenode or datanode0.", show_default="all")
    ] = None,
    lines: Annotated[int, typer.Option(min=1, help="Number of lines per log.")] = 20,
) -> None:
    """Print the end of the daemons' logs, including those of stopped daemons."""
    paths = {path.stem: path for path in sorted(user_cluster.log_folder().glob("*.log"))}
    if not paths:
        raise UsageError(
            "the logs of a cluster",
            found="there are none",
            where=str(user_cluster.log_folder()),
            remedy="`iostudy hadoop up` starts a cluster; a study's logs are in its output folder",
        )
    for name in paths if daemon is None else (_require_daemon(daemon, paths),):
        print_line(f"== {paths[name]} ==", style="bold")
        for line in paths[name].read_text(errors="replace").splitlines()[-lines:]:
            print_line(line)


def _require_daemon(daemon: str, names: Iterable[str]) -> str:
    see = "`iostudy hadoop logs` prints all"
    return require_known("daemon", daemon, names, where="the command line", see=see)


def _parse_properties(assignments: Sequence[str]) -> dict[str, str]:
    properties: dict[str, str] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or name in properties:
            raise UsageError(
                "properties as KEY=VALUE, each once",
                found=assignment,
                where="the command line",
                remedy="write it such as -p dfs.blocksize=64m",
            )
        properties[name] = value
    return properties


def _print_status(cluster: LocalCluster, stands: user_cluster.ClusterStatus) -> None:
    state = stands.lacks or "all daemons serve"
    if cluster.layout.namespace is None:
        state += "; every local user can reach it (see docs/hadoop.md)"
    print_line(f"{cluster.layout.spec.describe()}: {state}", style="bold")
    _print_daemons(cluster)
    for name, lines in stands.log_ends.items():
        print_line(f"{name} has ended, and its log ends:")
        for line in lines:
            print_line(f"  {line}")


def _print_daemons(cluster: LocalCluster) -> None:
    """Print the daemons with their memory, and the addresses of the cluster."""
    daemons = cluster.facts()["daemons"]
    resident = {name: fact["resident_bytes"] for name, fact in daemons.items()}
    rows = [
        (name, str(fact["pid"] or "ended"), fact["heap"], _format_mib(resident[name]))
        for name, fact in daemons.items()
    ]
    total = ("all", "", "", _format_mib(sum(resident.values())))
    print_table(("daemon", "pid", "largest heap", "memory"), [*rows, total])
    print_table(("", ""), list(_addresses(cluster).items()))


def _addresses(cluster: LocalCluster) -> dict[str, str]:
    layout = cluster.layout
    addresses = {"HDFS": layout.default_fs, "NameNode": f"http://{layout.web(NAMENODE)}"}
    if layout.spec.yarn:
        addresses["ResourceManager"] = f"http://{layout.web(RESOURCEMANAGER)}"
    return addresses | {"site files": str(layout.job_conf), "logs": str(layout.logs)}


def _format_usage(cluster: LocalCluster) -> str:
    daemons = cluster.facts()["daemons"].values()
    memory = _format_mib(sum(fact["resident_bytes"] for fact in daemons))
    return f"{_format_mib(stored_bytes(cluster.layout))} of storage, {memory} of memory"


def _format_mib(size_bytes: int) -> str:
    return f"{size_bytes / MIB:.0f} MiB"


def _as_json(
    cluster: LocalCluster | None, stands: user_cluster.ClusterStatus | None
) -> Mapping[str, Any]:
    if cluster is None or stands is None:
        return {"up": False, "lacks": "a cluster"}
    return {
        "up": not stands.lacks,
        "lacks": stands.lacks,
        "log_ends": {name: list(lines) for name, lines in stands.log_ends.items()},
        "addresses": _addresses(cluster),
        **cluster.facts(),
    }
