"""Settings that a study file, the user or the host declares, under the key ``settings``.

Files of the host are read first, then those of the running user, then the study file: the last
declaration of a name holds. Root reads its own files, never those of the user who called sudo. A
study whose factors are declared in files gets their declarations into its text, so that a ledger, a
fleet's node or a later run needs no file.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from iostudy.errors import UsageError
from iostudy.safe_path import closing, open_regular, read_at_most, require_safe
from iostudy.settings import catalog
from iostudy.settings.declarations import MAX_DECLARATIONS, NAME, Declaration
from iostudy.study import source
from iostudy.study.fields import OpenSection
from iostudy.study.names import scalar_text
from iostudy.study.problems import ProblemCollector
from iostudy.study.source import MAX_BYTES, Source
from iostudy.workloads.option_types import WRITTEN

HOST_FOLDER = Path("/etc/iostudy/settings.d")
KEY = "settings"
HOW_TO_DECLARE = (
    "or declare it under `settings:` as {read: COMMAND, write: COMMAND with {}} (`iostudy try`: "
    "--read COMMAND --write COMMAND), {file: PATH, key: KEY} or {attribute: PATH}"
)

RESERVED = ("workload", "fleet", "directory")
"""First parts of the names of factors that are no settings."""


def _name(value: Any) -> str:
    name = scalar_text(value)
    if not NAME.fullmatch(name):
        raise ValueError(
            "a name has letters, digits, _, - and dots between, such as zfs.recordsize"
        )
    if name.partition(".")[0] in RESERVED or catalog.is_reserved(name):
        raise ValueError(f"names that begin so belong to iostudy; write my_{name}")
    return name


def written_texts(value: Any) -> Any:
    """Return a declaration with every value as the file has it: 0022 is no number of 22."""
    if isinstance(value, Mapping):
        return {scalar_text(key): written_texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [written_texts(item) for item in value]
    is_text = isinstance(value, str)
    return value if is_text else getattr(value, WRITTEN, None) or scalar_text(value)


def _few(given: Mapping[str, Declaration]) -> Mapping[str, Declaration]:
    if len(given) > MAX_DECLARATIONS:
        raise ValueError(f"{len(given)} settings; at most {MAX_DECLARATIONS}")
    return given


Declarations = Annotated[
    dict[
        Annotated[str, BeforeValidator(_name), WithJsonSchema({"type": "string"})],
        Annotated[Declaration, BeforeValidator(written_texts)],
    ],
    AfterValidator(_few),
]


class _SettingsFile(OpenSection):
    """A file of settings.d."""

    settings: Declarations
    """The settings that the file declares, by their names."""


def declare(declarations: Mapping[str, Declaration]) -> None:
    """Let the names be settings of this process."""
    catalog.declare(
        {name: text.define(name, undocumented=True) for name, text in declarations.items()}
    )


def declare_files() -> Mapping[str, Any]:
    """Declare the settings of the files of host and user; return them as the files have them.

    StudyError for a file with problems, UnsafePathError for one that another user could change.
    """
    declared: dict[str, Any] = {}
    for path in setting_files():
        content = source.read(source.decode(_read(path), str(path)), str(path))
        collector = ProblemCollector(content, str(path))
        file = collector.open_section((), _SettingsFile, content.values)
        collector.finish()
        assert file is not None  # `read` gives a mapping
        declare(file.settings)
        declared |= written_texts(content.values[KEY])
    return declared


def setting_files() -> Iterator[Path]:
    """Yield the files, those of the host first, each folder's by name."""
    for folder in (HOST_FOLDER, _user_folder()):
        if folder is not None and folder.is_dir():
            require_safe(folder)
            yield from sorted(folder.glob("*.yaml"))


def _user_folder() -> Path | None:
    """The folder of the running user: XDG Base Directory Specification."""
    given = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    try:
        base = given if given.is_absolute() else Path(pwd.getpwuid(os.geteuid()).pw_dir, ".config")
    except KeyError:  # a user without an entry, as in containers
        return None
    return base / "iostudy" / HOST_FOLDER.name


def _read(path: Path) -> bytes:
    """Return the content; a link to a file that only root and this user can change is allowed."""
    try:
        real = path.resolve(strict=True)
        require_safe(real.parent)
        with closing(open_regular(real, os.O_RDONLY)) as descriptor:
            return read_at_most(descriptor, MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(
            "to read declarations of settings",
            found=error.strerror or str(error),
            where=str(path),
            remedy="correct the file, or remove it",
        ) from error


def embed(text: str, content: Source, used: Iterable[str], declared: Mapping[str, Any]) -> str:
    """Return the text of a study with the declarations of files that it uses."""
    declarations = content.values.get(KEY) or {}
    missing = {
        name: declared[name] for name in used if name in declared and name not in declarations
    }
    return source.write({**content.values, KEY: {**declarations, **missing}}) if missing else text
