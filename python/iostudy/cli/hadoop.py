"""``iostudy hadoop``: a Hadoop cluster on this machine, to work with by hand."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from iostudy.cli.arguments import Json, UnsafeFolders
from iostudy.cli.console import print_command, print_json, print_line, print_table, say
from iostudy.cli.stale_changes import recover_stale_changes, tell
from iostudy.errors import TRIAL_FAILED, UsageError
from iostudy.folders import require_safe_folder
from iostudy.hadoop.local.cluster import LocalCluster
from iostudy.hadoop.local.kept import stored_bytes
from iostudy.hadoop.local.layout import NAMENODE, RESOURCEMANAGER
from iostudy.hadoop.spec import DEFAULT_VERSION, MAX_DATANODES, ClusterSpec
from iostudy.settings.clusters import users
from iostudy.settings.transaction.recovery import Recovery
from iostudy.study.names import known
from iostudy.units import MIB

app = typer.Typer(
    help="A Hadoop cluster on this machine, to work with by hand.",
    add_completion=False,
    rich_markup_mode=None,
)


DataNodes = Annotated[int, typer.Option(min=1, max=MAX_DATANODES, help="How many DataNodes.")]
DataDirs = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="DIRECTORY",
        help="Where DataNodes store blocks, dealt out in turn; may be repeated.",
        show_default="the state directory",
    ),
]
NameDirs = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="DIRECTORY",
        help="Where the NameNode keeps its journal, the whole in each; may be repeated.",
        show_default="the state directory",
    ),
]
Yarn = Annotated[
    bool, typer.Option("--yarn", help="With YARN; else jobs run in a process of their own.")
]
Version = Annotated[
    str | None,
    typer.Option(
        metavar="VERSION",
        help="Of Hadoop.",
        show_default=f"that of HADOOP_HOME, or else {DEFAULT_VERSION}",
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option("-p", metavar="KEY=VALUE", help="A property of Hadoop's; may be repeated."),
]


@app.callback(no_args_is_help=True)
def before_each(context: typer.Context) -> None:
    """A Hadoop cluster on this machine, to work with by hand; a study starts its own."""
    recover_stale_changes(f"hadoop {context.invoked_subcommand}")


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
    """Start a cluster of real daemons; it runs until `iostudy hadoop down`."""
    spec = ClusterSpec(
        datanodes=datanodes,
        data_dirs=tuple(path.absolute() for path in data_dir or ()),
        name_dirs=tuple(path.absolute() for path in name_dir or ()),
        yarn=yarn,
        version=version,
        properties=_properties(properties or ()),
    )
    for directory in spec.dirs:
        require_safe_folder(directory, insist=unsafe_folders, shared=True)
    began = time.monotonic()
    cluster = users.start(spec, say)
    seconds = time.monotonic() - began
    print_line(f"{cluster.layout.spec.describe()}: ready after {seconds:.1f} s", style="bold")
    _show(cluster)
    print_line("To use it:")
    print_command(shlex.join(["export", f"HADOOP_CONF_DIR={cluster.layout.job_conf}"]))
    print_command(f"iostudy bench hadoop.dfsio-write --target hdfs://{users.WORK_FOLDER}")
    say("it runs until `iostudy hadoop down`")


@app.command("status")
def status(json: Json = False) -> None:
    """Tell whether the cluster is up and whole; exit code 3 if it is not."""
    cluster = users.find()
    stands = None if cluster is None else users.stand(cluster)
    if json:
        print_json(_as_json(cluster, stands))
    elif cluster is None or stands is None:
        print_line("no cluster; `iostudy hadoop up` starts one")
    else:
        _tell(cluster, stands)
    if stands is None or stands.lacks:
        raise typer.Exit(TRIAL_FAILED)


@app.command("down")
def down() -> None:
    """End the cluster and remove all that it has stored; its logs are kept."""
    cluster = users.find()
    freed = "" if cluster is None else _taken(cluster)
    recovery = users.stop()
    for text in recovery.left_alone:
        say(f"left alone: {text}")
    tell(recovery)
    if recovery == Recovery():
        say("no cluster, and nothing to end")
    elif not recovery.left_alone:
        say(f"freed: {freed}; logs are kept in {users.logs()}")


@app.command("logs")
def logs(
    daemon: Annotated[
        str | None, typer.Argument(help="Such as namenode or datanode0.", show_default="all")
    ] = None,
    lines: Annotated[int, typer.Option(min=1, help="So many of the last lines of each.")] = 20,
) -> None:
    """Print the end of the daemons' logs, also of those that have ended."""
    paths = {path.stem: path for path in sorted(users.logs().glob("*.log"))}
    if not paths:
        raise UsageError(
            "the logs of a cluster",
            found="there are none",
            where=str(users.logs()),
            remedy="`iostudy hadoop up` starts a cluster; a study's logs are in its output folder",
        )
    for name in paths if daemon is None else (_known(daemon, paths),):
        print_line(f"== {paths[name]} ==", style="bold")
        for line in paths[name].read_text(errors="replace").splitlines()[-lines:]:
            print_line(line)


def _known(daemon: str, names: Iterable[str]) -> str:
    see = "`iostudy hadoop logs` prints all"
    return known("daemon", daemon, names, where="the command line", see=see)


def _properties(assignments: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or name in found:
            raise UsageError(
                "properties as KEY=VALUE, each once",
                found=assignment,
                where="the command line",
                remedy="write it such as -p dfs.blocksize=64m",
            )
        found[name] = value
    return found


def _tell(cluster: LocalCluster, stands: users.Standing) -> None:
    told = stands.lacks or "all daemons serve"
    print_line(f"{cluster.layout.spec.describe()}: {told}", style="bold")
    _show(cluster)
    for name, lines in stands.log_ends.items():
        print_line(f"{name} has ended, and its log ends:")
        for line in lines:
            print_line(f"  {line}")


def _show(cluster: LocalCluster) -> None:
    """Its daemons with their memory, and where it answers."""
    daemons = cluster.facts()["daemons"]
    resident = {name: fact["resident_bytes"] for name, fact in daemons.items()}
    rows = [
        (name, str(fact["pid"] or "ended"), fact["heap"], _mib(resident[name]))
        for name, fact in daemons.items()
    ]
    total = ("all", "", "", _mib(sum(resident.values())))
    print_table(("daemon", "pid", "largest heap", "memory"), [*rows, total])
    print_table(("", ""), list(_addresses(cluster).items()))


def _addresses(cluster: LocalCluster) -> dict[str, str]:
    layout = cluster.layout
    found = {"HDFS": layout.default_fs, "NameNode": f"http://{layout.web(NAMENODE)}"}
    if layout.spec.yarn:
        found["ResourceManager"] = f"http://{layout.web(RESOURCEMANAGER)}"
    return found | {"site files": str(layout.job_conf), "logs": str(layout.logs)}


def _taken(cluster: LocalCluster) -> str:
    daemons = cluster.facts()["daemons"].values()
    memory = _mib(sum(fact["resident_bytes"] for fact in daemons))
    return f"{_mib(stored_bytes(cluster.layout))} of storage, {memory} of memory"


def _mib(size_bytes: int) -> str:
    return f"{size_bytes / MIB:.0f} MiB"


def _as_json(cluster: LocalCluster | None, stands: users.Standing | None) -> Mapping[str, Any]:
    if cluster is None or stands is None:
        return {"up": False, "lacks": "a cluster"}
    return {
        "up": not stands.lacks,
        "lacks": stands.lacks,
        "log_ends": {name: list(lines) for name, lines in stands.log_ends.items()},
        "addresses": _addresses(cluster),
        **cluster.facts(),
    }
