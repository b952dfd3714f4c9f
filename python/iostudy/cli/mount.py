"""``iostudy mount``: HDFS as a read-only file system, while the command runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from iostudy.cli.arguments import UnsafeFolders
from iostudy.cli.console import print_line, say
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
from iostudy.units import parse_seconds, parse_size

T = TypeVar("T")


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
        _parse("--rdbuffer", parse_size, rdbuffer),
        _parse("--attribute-timeout", parse_seconds, attribute_timeout),
        _parse("--entry-timeout", parse_seconds, entry_timeout),
        None if max_read is None else _parse("--max-read", parse_size, max_read),
    )
    wanted = _parse("mount", parse_hdfs_uri, uri)
    require_fuse()
    find_program()
    require_safe_folder(directory.absolute(), insist=unsafe_folders)
    mounted = HdfsMount.prepare(directory, find_directory(wanted), options)
    with Transaction(on_journal=start_or_warn) as transaction:
        transaction.apply(mounted)
        print_line(f"{mounted.directory.uri} is mounted on {mounted.point}, read-only")
        say(f"it ends with this command, or by `umount {mounted.point}`")
        mounted.wait()


def _parse(where: str, parse: Callable[[str], T], text: str) -> T:
    try:
        return parse(text)
    except ValueError as error:
        raise UsageError(
            "a value that can be read", found=f"{text}: {error}", where=where, remedy="correct it"
        ) from error
