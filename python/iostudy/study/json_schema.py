"""The JSON Schema (draft 2020-12) of study files, from the definitions that the parser reads.

It is for editors: completion, hover and the plainest errors. What depends on several values of a
file, or on the host, only `iostudy check` checks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pydantic.json_schema import models_json_schema

from iostudy.settings import catalog as settings
from iostudy.settings.declarations import NAME
from iostudy.settings.definition import Cost, SettingDefinition
from iostudy.settings.definitions.queue import OTHERS
from iostudy.settings.definitions.queue import PREFIX as QUEUE
from iostudy.settings.values import AS_FOUND, Integer
from iostudy.study.combinations import DIRECTORY_FACTOR
from iostudy.study.declared_settings import RESERVED
from iostudy.study.factors import MAX_LEVELS, OFFERED, OPTION_PREFIX
from iostudy.study.fields import CATALOG, SCALAR
from iostudy.study.study_file import CommandKey, plugin_keys, study_file_type
from iostudy.workloads import catalog as workloads
from iostudy.workloads.option_text import list_options

Schema = dict[str, Any]
_DESCRIPTION = "description"

_TEXT: Schema = {"type": "string"}
_LABELLED: Schema = {"type": "object", "minProperties": 1, "maxProperties": MAX_LEVELS}
_PLACES: Schema = {
    "description": "Where the setting is, if not below the target: a device, a path, members of "
    "NAME, or a list of these.",
    "anyOf": [SCALAR, {"type": "array", "minItems": 1, "items": SCALAR}],
}
_QUEUE = f"{QUEUE}({'|'.join(sorted(OTHERS))})$"
_ANY_SETTING = f"^({'|'.join(settings.open_prefixes())}|{_QUEUE}|/sys/|/proc/)".replace(".", r"\.")
"""Names that are settings also without a description of ours."""
_NOT_DOCUMENTATION = ("title", "default", "gt", "ge", "lt", "le", "format", CATALOG)
"""Keys of pydantic that JSON Schema lacks, or that an editor would show wrongly."""


def render_schema() -> str:
    """The schema as the package file ``study.schema.json`` has it."""
    return json.dumps(build_schema(), indent=1) + "\n"


def build_schema() -> Schema:
    """The schema of a whole study file: that of its model, with the names of the catalogs."""
    whole = _strip_for_editors(study_file_type().model_json_schema())
    definitions: dict[str, Schema] = {**whole.pop("$defs"), **_option_definitions()}
    levels = dict(_levels(definitions))
    definitions |= dict(_factors(levels))
    definitions |= {"factor": _factor(_levels_of(SCALAR)), "places": _PLACES}
    definitions["factors"] = build_by_name(levels, lambda factor: factor)
    for key in plugin_keys().values():
        if not isinstance(key, CommandKey) and key.define is not None:
            definitions |= key.define(levels)
    definitions["workload"] = _workload()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **whole,
        "title": "iostudy study file",
        "$defs": {name: definitions[name] for name in sorted(definitions)},
    }


def _option_definitions() -> dict[str, Schema]:
    """The options of every workload, and what these refer to."""
    options = {name: workloads.get(name).options for name in workloads.names()}
    models = [(kind, "validation") for kind in {*options.values()}]
    refs, combined = models_json_schema(models)  # type: ignore[arg-type]
    definitions: dict[str, Schema] = _strip_for_editors(combined)["$defs"]
    for name, model in options.items():
        shared = definitions[str(refs[model, "validation"]["$ref"]).removeprefix("#/$defs/")]
        properties = dict(shared["properties"])
        for option, default, allowed, meaning in list_options(workloads.get(name)):
            text = f"{meaning} ({allowed}; default: {default})"
            properties[option] = {**properties[option], "description": text}
        # A factor may give an option that has no default, so that none is required here.
        kept = {key: value for key, value in shared.items() if key != "required"}
        definitions[f"options.{name}"] = {**kept, "properties": {**properties, **_OWN_OPTIONS}}
    return definitions


_OWN_OPTIONS: Mapping[str, Schema] = {
    "label": {
        "description": "Tells two entries of one workload apart, and names it in the report.",
        **SCALAR,
    },
    "figure": {
        "description": "The figure that verdicts use; the workload's first one by default. Of "
        "several the first decides, and the others must not get worse.",
        "anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1, "uniqueItems": True}],
    },
}


def _strip_for_editors(schema: Any, *, named: bool = False) -> Any:
    """The schema without what is no documentation; the keys of a ``named`` mapping are all kept."""
    if isinstance(schema, list):
        return [_strip_for_editors(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if CATALOG in schema:
        schema = {**schema, **build_reference(schema[CATALOG])}
    return {
        key: " ".join(value.split())
        if key == _DESCRIPTION and isinstance(value, str)
        else _strip_for_editors(value, named=not named and key in ("properties", "$defs"))
        for key, value in _without_null(schema).items()
        if named or key not in _NOT_DOCUMENTATION
    }


def _without_null(schema: Schema) -> Schema:
    """A value that may be null as that value alone; null is what leaves it out."""
    match schema:
        case {"anyOf": [*choices, {"type": "null"}], **rest}:
            return {**(choices[0] if len(choices) == 1 else {"anyOf": choices}), **rest}
        case _:
            return schema


def _levels(definitions: Mapping[str, Schema]) -> Iterator[tuple[str, Schema]]:
    """Every factor that has a description, and what one of its levels may be."""
    for name in settings.names():
        yield name, _setting_level(settings.get(name))
    fields: dict[str, list[Schema]] = {}
    for name in workloads.names():
        for option, field in definitions[f"options.{name}"]["properties"].items():
            if option not in _OWN_OPTIONS:
                fields.setdefault(option, []).append(field)
    for option, same in sorted(fields.items()):
        yield OPTION_PREFIX + option, _option_level(same)
    yield DIRECTORY_FACTOR, {_DESCRIPTION: "Names among the directories of the target.", **SCALAR}


def _factors(levels: Mapping[str, Schema]) -> Iterator[tuple[str, Schema]]:
    """For each name a level, the levels, and the factor with its description."""
    for name, level in levels.items():
        yield f"level.{name}", {key: level[key] for key in level if key != _DESCRIPTION}
        yield f"levels.{name}", _levels_of(build_reference(f"level.{name}"))
        described = {_DESCRIPTION: level[_DESCRIPTION]}
        yield f"factor.{name}", {**described, **_factor(build_reference(f"levels.{name}"))}


def _setting_level(definition: SettingDefinition) -> Schema:
    text = (
        f"{definition.documentation} Allowed: {definition.allowed}. Default: {definition.default}."
    )
    as_found = [] if definition.cost is Cost.FORMAT else [AS_FOUND]
    if definition.choices:
        return {"description": text, "enum": [*_written(definition.choices), *as_found]}
    values = definition.values
    if isinstance(values, Integer):
        words = {"enum": [*values.words, *as_found]}
        digits = {"type": "string", "pattern": "^ *-?[0-9]+ *$"}
        number = {"type": "integer", "minimum": values.minimum, "maximum": values.maximum}
        return {"description": text, "anyOf": [number, words, digits]}
    return {"description": text, **SCALAR}


def _written(choices: Iterable[str]) -> Iterator[Any]:
    """Each choice, and the number or truth value that YAML makes of it without quotes."""
    for choice in choices:
        yield choice
        if choice.isdecimal():
            yield int(choice)
        if choice in ("true", "false"):
            yield choice == "true"


def _option_level(fields: Iterable[Schema]) -> Schema:
    """A level is a single value of the option's kind, as one of the workloads takes it."""
    schemas = [{k: v for k, v in field.items() if k != _DESCRIPTION} for field in fields]
    single = [schema if schema.get("type") != "object" else SCALAR for schema in schemas]
    kinds = [schema for number, schema in enumerate(single) if schema not in single[:number]]
    return {_DESCRIPTION: next(iter(fields))[_DESCRIPTION], "anyOf": kinds}


def _levels_of(level: Schema) -> Schema:
    """All levels of a factor: a list, labels, or what the host offers."""
    return {
        "anyOf": [
            {"type": "array", "minItems": 1, "maxItems": MAX_LEVELS, "items": level},
            {**_LABELLED, "additionalProperties": level},
            {"const": OFFERED},
        ]
    }


def _factor(levels: Schema) -> Schema:
    placed = build_object({"levels": levels, "on": build_reference("places")}, required=("levels",))
    return {"anyOf": [levels, placed]}


def build_by_name(names: Iterable[str], form: Callable[[Schema], Schema]) -> Schema:
    """Factors or parameters by their names; those without a description by their beginnings."""
    return {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": False,
        "properties": {name: form(build_reference(f"factor.{name}")) for name in names},
        "patternProperties": {
            pattern: form(build_reference("factor")) for pattern in (_ANY_SETTING, _own_setting())
        },
    }


def _own_setting() -> str:
    """Names that only a declaration can have: no editor takes a misspelt known name for one."""
    prefixes = {name.partition(".")[0] for name in settings.names() if settings.is_reserved(name)}
    others = "|".join(sorted({*prefixes, *RESERVED}))
    return rf"^(?!({others})\.){NAME.pattern}$"


def _workload() -> Schema:
    """An entry of the list: a name, or a name with options."""
    named: dict[str, Schema] = {
        name: {
            "description": f"It models {workloads.get(name).models}.",
            "anyOf": [build_reference(f"options.{name}"), {"type": "null"}],
        }
        for name in workloads.names()
    }
    one = {**build_object(named), "minProperties": 1, "maxProperties": 1}
    return {"anyOf": [{"enum": list(workloads.names())}, one]}


def build_object(properties: Mapping[str, Schema], required: tuple[str, ...] = ()) -> Schema:
    """Return the schema of a mapping with these keys alone."""
    wanted = {"required": list(required)} if required else {}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": dict(properties),
        **wanted,
    }


def build_reference(name: str) -> Schema:
    """Return the reference to a definition."""
    return {"$ref": f"#/$defs/{name}"}
