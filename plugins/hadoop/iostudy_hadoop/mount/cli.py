"""``iostudy mount``: HDFS as a file system, while the command runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from iostudy.cli.arguments import UnsafeFolders, parse_size_option, parse_time_option
from iostudy.cli.console import print_line, say
from iostudy.cli.watchdog import start_or_warn
from iostudy.errors import UsageError
from iostudy.folders import require_safe_folder
from iostudy.settings.transaction.transaction import Transaction
from iostudy_hadoop.existing.mountable import find_directory
from iostudy_hadoop.hdfs_uri import parse_hdfs_uri
from iostudy_hadoop.mount.mounted import HdfsMount, find_program, require_fuse
from iostudy_hadoop.mount.options import MountOptions


def mount(
    uri: Annotated[
        str,
        typer.Argument(
            metavar="hdfs://HOST:PORT/FOLDER",
            help="A folder of HDFS; hdfs:///FOLDER is on the cluster of HADOOP_CONF_DIR.",
        ),
    ],
    directory: Annotated[Path, typer.Argument(metavar="DIRECTORY", help="An empty directory.")],
    rdbuffer: Annotated[
        str,
        typer.Option(help="Read buffer of each open file, which requests of its size bypass."),
    ] = "10MiB",
    attribute_timeout: Annotated[
        str, typer.Option(help="Time for which the kernel keeps attributes.")
    ] = "60s",
    entry_timeout: Annotated[
        str, typer.Option(help="Time for which the kernel keeps names.")
    ] = "60s",
    max_read: Annotated[
        str | None,
        typer.Option(help="Largest read request.", show_default="the kernel's limit"),
    ] = None,
    writable: Annotated[
        bool, typer.Option("--writable", help="Files can be made, appended to and removed.")
    ] = False,
    replication: Annotated[
        int | None,
        typer.Option(
            min=1, max=512, help="Replicas of new files.", show_default="that of the NameNode"
        ),
    ] = None,
    block_size: Annotated[
        str | None,
        typer.Option(help="Block size of new files.", show_default="that of the NameNode"),
    ] = None,
    unsafe_folders: UnsafeFolders = False,
) -> None:
    """Mount HDFS as a file system, read-only by default.

    It is mounted, as root, until the command ends: by a signal, or after `umount DIRECTORY`.
    """
    options = _require_valid(
        rdbuffer=parse_size_option("--rdbuffer", rdbuffer, "10MiB"),
        attribute_timeout=parse_time_option("--attribute-timeout", attribute_timeout, "60s"),
        entry_timeout=parse_time_option("--entry-timeout", entry_timeout, "60s"),
        max_read=None if max_read is None else parse_size_option("--max-read", max_read, "1MiB"),
        writable=writable,
        replication=replication,
        block_size=None
        if block_size is None
        else parse_size_option("--block-size", block_size, "128MiB"),
    )
    wanted = _parse_uri(uri)
    require_fuse()
    find_program()
    require_safe_folder(directory.absolute(), insist=unsafe_folders)
    mounted = HdfsMount.prepare(directory, find_directory(wanted), options)
    with Transaction(on_journal=start_or_warn) as transaction:
        transaction.apply(mounted)
        access = "writable" if writable else "read-only"
        print_line(f"{mounted.directory.uri} is mounted on {mounted.point}, {access}")
        say(f"it ends with this command, or by `umount {mounted.point}`")
        mounted.wait()


def _require_valid(**options: Any) -> MountOptions:
    try:
        return MountOptions(**options)
    except ValueError as error:
        raise UsageError(
            "options of a mount of HDFS that go together",
            found=str(error),
            where="mount",
            remedy="add --writable for an option of new files, with a size such as 128MiB",
        ) from error


def _parse_uri(text: str) -> str:
    try:
        return parse_hdfs_uri(text)
    except ValueError as error:
        raise UsageError(
            "the URI of a folder of HDFS",
            found=f"{text}: {error}",
            where="mount",
            remedy="write it as in hdfs://namenode:8020/data",
        ) from error
