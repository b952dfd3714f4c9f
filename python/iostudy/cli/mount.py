"""``iostudy mount``: HDFS as a read-only file system, while the command runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from iostudy.cli.arguments import UnsafeFolders
from iostudy.cli.console import print_line, say
from iostudy.cli.quantities import parse_size_option, parse_time_option
from iostudy.cli.watchdog import start_or_warn
from iostudy.errors import UsageError
from iostudy.folders import require_safe_folder
from iostudy.hadoop.existing.mountable import find_directory
from iostudy.settings.clusters.hdfs_mount import (
    HdfsMount,
    MountOptions,
    find_program,
    require_fuse,
)
from iostudy.settings.transaction.transaction import Transaction
from iostudy.study.targets import parse_hdfs_uri


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
    unsafe_folders: UnsafeFolders = False,
) -> None:
    """Mount HDFS as a read-only file system.

    It is mounted, as root, until the command ends: by a signal, or after `umount DIRECTORY`.
    """
    options = MountOptions(
        parse_size_option("--rdbuffer", rdbuffer, "10MiB"),
        parse_time_option("--attribute-timeout", attribute_timeout, "60s"),
        parse_time_option("--entry-timeout", entry_timeout, "60s"),
        None if max_read is None else parse_size_option("--max-read", max_read, "1MiB"),
    )
    wanted = _parse_uri(uri)
    require_fuse()
    find_program()
    require_safe_folder(directory.absolute(), insist=unsafe_folders)
    mounted = HdfsMount.prepare(directory, find_directory(wanted), options)
    with Transaction(on_journal=start_or_warn) as transaction:
        transaction.apply(mounted)
        print_line(f"{mounted.directory.uri} is mounted on {mounted.point}, read-only")
        say(f"it ends with this command, or by `umount {mounted.point}`")
        mounted.wait()


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
