"""``iostudy persist``: keep a study's winner, or what `set` holds, as configuration."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from iostudy.cli.arguments import UnsafeFolders, usage_error
from iostudy.cli.console import print_text, say
from iostudy.durable import write_whole
from iostudy.errors import RecordError
from iostudy.folders import make_output_folder
from iostudy.persist import formats, fstab, places
from iostudy.persist.ansible import ROLE
from iostudy.persist.install import install as write
from iostudy.persist.install import not_own
from iostudy.persist.plan import MARK, Artifact, PersistencePlan
from iostudy.persist.request import DiskMatch, PersistRequest
from iostudy.plugins import require_plugin_of
from iostudy.study.declared_settings import declare_files
from iostudy.study.names import require_known
from iostudy.visible import visible

Folder = Annotated[
    Path | None,
    typer.Argument(
        metavar="[DIR]", help="An output folder of `run`.", show_default="what `set` holds"
    ),
]
Form = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="|".join(formats.names()),
        help="Format of the configuration.",
        show_default="all that are needed",
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        "--configuration", metavar="LABEL", help="Configuration to keep.", show_default="the winner"
    ),
]
On = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DEVICE|MOUNT",
        help="Devices or mounts to configure; repeatable.",
        show_default="where it was set",
    ),
]

Match = Annotated[
    DiskMatch,
    typer.Option(
        "--match",
        help="What udev rules match: the disk itself by its WWID or serial number, or all disks "
        "of its model, of its kind of rotation, or with names of its driver.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Write the role or the site files into this folder."),
]


def persist(
    folder: Folder = None,
    form: Form = None,
    label: Label = None,
    on: On = None,
    match: Match = DiskMatch.SERIAL,
    out: Out = None,
    install: Annotated[
        bool, typer.Option("--install", help="Write the files and activate them.")
    ] = False,
    unproven: Annotated[
        bool,
        typer.Option(
            "--unproven", help="Install a configuration that its study did not show to be better."
        ),
    ] = False,
    unsafe_folders: UnsafeFolders = False,
) -> None:
    """Keep settings permanently: print the files, or install them."""
    printed = formats.describe_printed()
    if form is not None:
        require_plugin_of(form, where="--format")
        require_known("format", form, formats.names(), where="--format", see="give one of these")
    if install and form is not None and form in printed:
        raise usage_error("to install on this host", *printed[form])
    if out is not None and form not in printed:
        raise usage_error(
            "to write files into a folder", "--out", f"give --format {' or '.join(printed)}"
        )
    declare_files()
    choice = replace(
        _choice(folder, label, on or []), match=match, present=places.read_present_disks()
    )
    if install and not (choice.proven or unproven):
        evidence = "".join(f"\n    {line}" for line in choice.provenance)
        raise usage_error(
            f"to install {choice.origin}",
            f"no proof that it is better{evidence}",
            "see the report, or give --unproven; the files then say that it is unproven",
        )
    rendered = formats.plan(choice, form)
    for text in (*rendered.notes, *map(str, rendered.unsupported)):
        say(text)
    if len(rendered.unsupported) == len(choice.settings):
        kinds = f": it keeps {formats.describe_kept(form)} only" if form else ""
        fault = f"nothing that {f'--format {form}' if form else 'a file'} can keep{kinds}"
        raise usage_error(f"to keep {choice.origin}", fault, "see the reasons above")
    if install:
        for line in write(rendered, unsafe_folders=unsafe_folders):
            say(line)
    elif out is not None:
        _write_folder(rendered, out, unsafe_folders=unsafe_folders)
    else:
        _print(rendered)


def _choice(folder: Path | None, label: str | None, on: list[str]) -> PersistRequest:
    if folder is not None:
        # Imported here: statistics take most of a second to load.
        from iostudy.persist.winner import select_settings

        return select_settings(folder, label, on)
    if label is not None:
        raise usage_error("a configuration of a study", "no study", "name its output folder, too")
    return places.find_held(on)


def _print(rendered: PersistencePlan) -> None:
    """Print the files on stdout and conflicts on stderr."""
    if not rendered.artifacts:
        say("nothing to write: all settings are already configured")
    for clash in rendered.conflicts:
        say(f"--install would be refused: {clash}")
    print_text("\n".join(map(_shown, rendered.artifacts)))


def _shown(artifact: Artifact) -> str:
    """Format a file below its name, or a diff of fstab."""
    if artifact.path == fstab.FILE:
        text = "".join(_difference(artifact))
    elif artifact.path.suffix == ".xml":
        text = f"<!-- {artifact.path.name} -->\n{artifact.after}"
    else:
        # The path of a role's file is relative.
        in_role = artifact.path.is_relative_to(ROLE)
        path = artifact.path.relative_to("/") if in_role else artifact.path
        text = f"# {path}\n{artifact.after}"
    return visible(text, keep="\n\t")


def _write_folder(rendered: PersistencePlan, folder: Path, *, unsafe_folders: bool) -> None:
    """Write the files below the folder; RecordError if that fails.

    UsageError before the first write if one would replace a file that is not iostudy's.
    """
    make_output_folder(folder, insist=unsafe_folders)
    files = {}
    for artifact in rendered.artifacts:
        base = ROLE if artifact.path.is_relative_to(ROLE) else artifact.path.parent
        files[folder / artifact.path.relative_to(base)] = artifact.after
    try:
        for path, text in files.items():
            # The README of a role has no mark but its heading.
            mark = MARK if MARK in text else text.partition("\n")[0]
            head = path.read_text("utf-8", "replace").splitlines()[:2] if path.exists() else [mark]
            if not any(mark in line for line in head):
                raise not_own(path, "name a new folder, and merge its files into yours")
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text.encode())
    except OSError as error:
        raise RecordError(
            "to write a file",
            found=error.strerror or str(error),
            where=str(path),
            remedy="free space there, or name another folder",
        ) from error
    say(f"{len(files)} files are in {folder}")


def _difference(artifact: Artifact) -> Iterable[str]:
    before = (artifact.before or "").splitlines(keepends=True)
    after = artifact.after.splitlines(keepends=True)
    name = str(artifact.path)
    for line in difflib.unified_diff(before, after, name, name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
