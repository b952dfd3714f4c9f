"""Reading and checking of drive files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from iostudy.errors import UsageError
from iostudy.safe_path import read_named
from iostudy_lab.drives.disk import Disk
from iostudy_lab.drives.flash import Flash

Drive: TypeAlias = Annotated[Disk | Flash, Field(discriminator="family")]

_ADAPTER: TypeAdapter[Disk | Flash] = TypeAdapter(Drive)
_MOST_BYTES = 1 << 20
_BASE = "base"

PRESETS = Path(__file__).parent / "presets"
"""Folder of the drive files that iostudy ships."""


def preset_names() -> list[str]:
    """Names of all presets, sorted."""
    return sorted(path.stem for path in PRESETS.glob("*.yaml"))


def load(path: Path) -> Disk | Flash:
    """Read a drive file. UsageError names the file and each wrong key."""
    return check(_read_whole(path), str(path))


def _read_whole(path: Path) -> Any:
    """Content of a drive file, with the keys that it takes from its base."""
    content = _read(path)
    if not isinstance(content, dict) or _BASE not in content:
        return content
    changes = {key: value for key, value in content.items() if key != _BASE}
    return _read_whole(_find_base(content[_BASE], path)) | changes


def _find_base(name: Any, path: Path) -> Path:
    """The preset that a drive file is based on."""
    if name not in preset_names():
        raise UsageError(
            f"as base one of {', '.join(preset_names())}",
            found=repr(name),
            where=str(path),
            remedy="`iostudy drives` lists the drives",
        )
    return PRESETS / f"{name}.yaml"


def _read(path: Path) -> Any:
    try:
        content = read_named(path, _MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise _refuse(path, "more than that")
        return YAML(typ="safe", pure=True).load(content.decode())
    except (OSError, UnicodeDecodeError, YAMLError) as error:
        raise _refuse(path, str(error)) from error


def _refuse(path: Path, found: str) -> UsageError:
    return UsageError(
        f"a drive file: YAML of at most {_MOST_BYTES} bytes",
        found=found,
        where=str(path),
        remedy="name a drive file; docs/drives.md describes the keys",
    )


def check(content: Any, place: str) -> Disk | Flash:
    """Drive of a file's content. UsageError names the place and each wrong key."""
    try:
        return _ADAPTER.validate_python(content)
    except ValidationError as error:
        problems = (
            f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in error.errors()
        )
        raise UsageError(
            "a drive with the keys of its family",
            found="; ".join(problems),
            where=place,
            remedy="correct these keys; docs/drives.md describes them",
        ) from error


def parameters(drive: Disk | Flash) -> str:
    """Parameters for ``DriveModel``, as JSON."""
    return json.dumps(drive.parameters())
