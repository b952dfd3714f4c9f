"""Targets as study files have them: a path, a URI, or a section with a key for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PlainValidator, create_model

from iostudy.study.fields import StudySection
from iostudy.study.targets.directories import (
    MAX_DIRECTORIES,
    ComparedPlace,
    DirectoriesTarget,
    DirectoryTarget,
)
from iostudy.study.targets.loopback import LoopbackTarget
from iostudy.study.targets.scratch import ScratchTarget
from iostudy.study.targets.target import (
    Name,
    Target,
    list_plugin_targets,
    require_plugins,
    short_path,
)
from iostudy.study.targets.volume import VolumeTarget


class TargetSection(StudySection):
    """A target that is more than a directory."""

    loopback: LoopbackTarget | None = None
    """a disk made for the study from a file in the output folder"""
    scratch: ScratchTarget | None = None
    """a device of which the study destroys all data"""
    volume: VolumeTarget | None = None
    """a volume of LVM or md over several disks, made for the study"""
    directories: (
        Annotated[Mapping[Name, ComparedPlace], Field(min_length=1, max_length=MAX_DIRECTORIES)]
        | None
    ) = None
    """directories on mounts, by names of your own; target.directory varies several;
    {mount: filer:/export, type: nfs4} is mounted for the study"""

    def target(self) -> Target:
        """The target; ValueError unless exactly one is given."""
        given = (getattr(self, name) for name in type(self).model_fields)
        match [value for value in given if value is not None]:
            case [Target() as target]:
                return target.chosen()
            case [places]:
                return DirectoriesTarget.from_places(places)
            case _:
                keys = ", ".join(type(self).model_fields)
                raise ValueError(f"give one of {keys}, such as loopback: {{size: 2GiB}}")


def _make_section_type() -> type[TargetSection]:
    """Return the section with the keys of plugins, too."""
    fields: dict[str, Any] = {
        name: (key.annotation | None, Field(None, description=key.documentation))
        for name, key in list_plugin_targets().items()
        if key.annotation is not None
    }
    name, doc = TargetSection.__name__, TargetSection.__doc__
    return create_model(name, __base__=TargetSection, __doc__=doc, **fields)


def parse_target(value: Any) -> Target:
    """A target as a study file has it; ValueError says what is wrong with it."""
    if isinstance(value, Mapping):
        require_plugins(value)
        return _SECTION.model_validate(value).target()
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError(f"a target is wanted: {_list_kinds()}")
    for beginning, key in list_plugin_targets().items():
        if key.parse is not None and value.strip().startswith(beginning):
            return key.parse(value)
    if "://" in value:
        require_plugins([value.strip()])
        raise ValueError(f"no target begins so; write {_list_kinds()}")
    return DirectoryTarget(short_path(Path(value)))


def _list_kinds() -> str:
    sections = (f"{{{name}: ...}}" for name in _SECTION.model_fields)
    texts = (f"{begin}//..." for begin, key in list_plugin_targets().items() if key.parse)
    *kinds, last = "a directory", *sections, *texts
    return f"{', '.join(kinds)} or {last}"


_SECTION = _make_section_type()
TargetValue = Annotated[Target, PlainValidator(parse_target, json_schema_input_type=str | _SECTION)]
"""A target in a study file: a text, or a section."""
