"""``iostudy persist``: keep a study's winner, or what `set` holds, as configuration."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from iostudy.cli.arguments import UnsafeFolders
from iostudy.cli.console import print_text, say
from iostudy.errors import UsageError
from iostudy.persist import fstab, places
from iostudy.persist.formats import NOT_INSTALLED, PLAYBOOK, Format, plan
from iostudy.persist.install import install as write
from iostudy.persist.plan import Artifact, PersistencePlan
from iostudy.persist.request import PersistRequest
from iostudy.visible import visible

Folder = Annotated[
    Path | None,
    typer.Argument(
        metavar="[DIR]", help="An output folder of `run`.", show_default="what `set` holds"
    ),
]
Form = Annotated[
    Format | None,
    typer.Option(
        "--format", help="Format of the configuration.", show_default="all that are needed"
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


def persist(
    folder: Folder = None,
    form: Form = None,
    label: Label = None,
    on: On = None,
    install: Annotated[
        bool, typer.Option("--install", help="Write the files and activate them.")
    ] = False,
    unsafe_folders: UnsafeFolders = False,
) -> None:
    """Keep settings permanently: print the files, or install them."""
    if install and form in NOT_INSTALLED:
        raise _usage("to install on this host", *NOT_INSTALLED[form])
    choice = _choice(folder, label, on or [])
    rendered = plan(choice, form)
    for text in (*rendered.notes, *map(str, rendered.unsupported)):
        say(text)
    if len(rendered.unsupported) == len(choice.settings):
        raise _usage(
            f"to keep {choice.origin}", "nothing that can be kept", "see the reasons above"
        )
    if install:
        for line in write(rendered, unsafe_folders=unsafe_folders):
            say(line)
    else:
        _print(rendered)


def _choice(folder: Path | None, label: str | None, on: list[str]) -> PersistRequest:
    if folder is not None:
        # Imported here: statistics take most of a second to load.
        from iostudy.persist.winner import select_settings

        return select_settings(folder, label, on)
    if label is not None:
        raise _usage("a configuration of a study", "no study", "name its output folder, too")
    return places.find_held(on)


def _print(rendered: PersistencePlan) -> None:
    """Print the files on stdout and conflicts on stderr."""
    for clash in rendered.conflicts:
        say(f"--install would be refused: {clash}")
    print_text("\n".join(map(_shown, rendered.artifacts)))


def _shown(artifact: Artifact) -> str:
    """Format a file below its name, or a diff of fstab."""
    if artifact.path == PLAYBOOK:
        text = artifact.after
    elif artifact.path == fstab.FILE:
        text = "".join(_difference(artifact))
    elif artifact.path.suffix == ".xml":
        text = f"<!-- {artifact.path.name} -->\n{artifact.after}"
    else:
        text = f"# {artifact.path}\n{artifact.after}"
    return visible(text, keep="\n\t")


def _difference(artifact: Artifact) -> Iterable[str]:
    before = (artifact.before or "").splitlines(keepends=True)
    after = artifact.after.splitlines(keepends=True)
    name = str(artifact.path)
    for line in difflib.unified_diff(before, after, name, name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _usage(wanted: str, found: str, remedy: str) -> UsageError:
    return UsageError(wanted, found=found, where="the command line", remedy=remedy)
