"""The JSON Schema (draft 2020-12) of study files, from the definitions that the parser reads.

It is for editors: completion, hover and the plainest errors. What depends on several values of a
file, or on the host, only `iostudy check` tells.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from iostudy.settings import catalog as settings
from iostudy.settings.definition import Cost, SettingDefinition
from iostudy.settings.definitions.hadoop import PREFIX as HADOOP
from iostudy.settings.definitions.sysctl import PREFIX as SYSCTL
from iostudy.settings.values import AS_FOUND, Integer
from iostudy.study import reference
from iostudy.study.design import DesignKind
from iostudy.study.factors import MAX_LEVELS, OFFERED, OPTION_PREFIX
from iostudy.study.hadoop_section import HadoopSection
from iostudy.study.keys import DESCRIPTIONS, FALLBACK_KEYS, MAX_QUESTION, MAX_SEED, REFUSED
from iostudy.study.requests import MAX_WORKLOADS
from iostudy.study.search_section import SCALES
from iostudy.study.sections import (
    DecideSection,
    PrepareSection,
    TargetSection,
    TelemetrySection,
    ValiditySection,
)
from iostudy.workloads import catalog as workloads
from iostudy.workloads.option_text import list_options

Schema = dict[str, Any]
_DESCRIPTION = "description"

_SECTIONS: Mapping[str, type[BaseModel]] = {
    "target": TargetSection,
    "hadoop": HadoopSection,
    "decide": DecideSection,
    "validity": ValiditySection,
    "telemetry": TelemetrySection,
    "prepare": PrepareSection,
}
_SCALAR: Schema = {"type": ["string", "number", "boolean"]}
_TEXT: Schema = {"type": "string"}
_LABELLED: Schema = {"type": "object", "minProperties": 1, "maxProperties": MAX_LEVELS}
_PLACES: Schema = {
    "description": "Where the setting is, if not below the target: a device, a path, members of "
    "NAME, or a list of these.",
    "anyOf": [_SCALAR, {"type": "array", "minItems": 1, "items": _SCALAR}],
}
_ANY_SETTING = f"^({SYSCTL}|{HADOOP})".replace(".", r"\.")
"""Names that are settings also without a description of ours."""
_NOT_DOCUMENTATION = ("title", "default", "gt", "ge", "lt", "le", "format")
"""Keys of pydantic that JSON Schema lacks, or that an editor would show wrongly."""


def render_schema() -> str:
    """The schema as the package file ``study.schema.json`` has it."""
    return json.dumps(build_schema(), indent=1) + "\n"


def build_schema() -> Schema:
    """The schema of a whole study file."""
    sections, definitions = _models()
    levels = dict(_levels(definitions))
    definitions |= dict(_factors(levels))
    definitions |= {"factor": _factor(_levels_of(_SCALAR)), "range": _range(), "places": _PLACES}
    definitions["factors"] = _by_name(levels, lambda factor: factor)
    definitions["parameters"] = _by_name(levels, lambda f: {"anyOf": [_to("range"), f]})
    definitions["hadoop.properties"] = _properties(levels)
    definitions[_name_of(sections["hadoop"])]["properties"]["properties"] = _to("hadoop.properties")
    properties = _keys(sections)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "iostudy study file",
        "type": "object",
        "additionalProperties": False,
        "required": ["question", "target", "workloads"],
        "oneOf": [{"required": ["factors"]}, {"required": ["search"]}],
        "properties": {
            key: {"description": text, **properties[key]} for key, text in DESCRIPTIONS.items()
        },
        "$defs": {name: definitions[name] for name in sorted(definitions)},
    }


def _keys(sections: Mapping[str, Schema]) -> dict[str, Schema]:
    """What each key at the top may have."""
    keys: dict[str, Schema] = {
        **sections,
        "question": {"type": "string", "minLength": 1, "maxLength": MAX_QUESTION},
        "target": {"anyOf": [_TEXT, sections["target"]]},
        "factors": _to("factors"),
        "search": _search(),
        "configurations": _map({"type": "object", "additionalProperties": _SCALAR}),
        "design": _design(),
        "baseline": _SCALAR,
        "bounds": {"type": "array", "items": _SCALAR},
        "workloads": _workloads(),
        "load": _load(),
        "refused": {"enum": list(REFUSED)},
        "seed": {"type": "integer", "minimum": 0, "exclusiveMaximum": MAX_SEED},
        "reference": {"enum": list(reference.names())},
    }
    fallback = {key: {"description": DESCRIPTIONS[key], **keys[key]} for key in FALLBACK_KEYS}
    return {**keys, "without_root": _object(fallback)}


def _models() -> tuple[dict[str, Schema], dict[str, Schema]]:
    """The schema of each section, and the definitions of these and of all workloads' options."""
    options = {name: workloads.get(name).options for name in workloads.names()}
    models = [(each, "validation") for each in {*_SECTIONS.values(), *options.values()}]
    refs, combined = models_json_schema(models)  # type: ignore[arg-type]
    definitions: dict[str, Schema] = _without_noise(combined)["$defs"]
    for name, model in options.items():
        shared = definitions[_name_of(refs[model, "validation"])]
        definitions[f"options.{name}"] = _options(name, shared)
    return {key: refs[model, "validation"] for key, model in _SECTIONS.items()}, definitions


def _options(name: str, shared: Schema) -> Schema:
    """The options of a workload with what hover says of each, and those of the study's own."""
    properties = dict(shared["properties"])
    for option, default, allowed, meaning in list_options(workloads.get(name)):
        text = f"{meaning} ({allowed}; default: {default})"
        properties[option] = {**properties[option], "description": text}
    return {**shared, "properties": {**properties, **_OWN_OPTIONS}}


_OWN_OPTIONS: Mapping[str, Schema] = {
    "label": {
        "description": "Tells two entries of one workload apart, and names it in the report.",
        **_SCALAR,
    },
    "figure": {
        "description": "The figure that verdicts use; the workload's first one by default.",
        **_TEXT,
    },
}


def _without_noise(schema: Any, *, named: bool = False) -> Any:
    """The schema without what is no documentation; the keys of a ``named`` mapping are all kept."""
    if isinstance(schema, list):
        return [_without_noise(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_noise(value, named=not named and key in ("properties", "$defs"))
        for key, value in schema.items()
        if named or key not in _NOT_DOCUMENTATION
    }


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


def _factors(levels: Mapping[str, Schema]) -> Iterator[tuple[str, Schema]]:
    """For each name a level, the levels, and the factor with its description."""
    for name, level in levels.items():
        yield f"level.{name}", {key: level[key] for key in level if key != _DESCRIPTION}
        yield f"levels.{name}", _levels_of(_to(f"level.{name}"))
        described = {_DESCRIPTION: level[_DESCRIPTION]}
        yield f"factor.{name}", {**described, **_factor(_to(f"levels.{name}"))}


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
    return {"description": text, **_SCALAR}


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
    known = [{k: v for k, v in field.items() if k != _DESCRIPTION} for field in fields]
    single = [each if each.get("type") != "object" else _SCALAR for each in known]
    kinds = [each for number, each in enumerate(single) if each not in single[:number]]
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
    placed = _object({"levels": levels, "on": _to("places")}, required=("levels",))
    return {"anyOf": [levels, placed]}


def _range() -> Schema:
    ends = {"from": _SCALAR, "to": _SCALAR}
    more: dict[str, Schema] = {"scale": {"enum": list(SCALES)}, "step": _SCALAR}
    return _object({**ends, **more, "on": _to("places")}, required=tuple(ends))


def _by_name(names: Iterable[str], form: Callable[[Schema], Schema]) -> Schema:
    """Factors or parameters by their names; those without a description by their beginnings."""
    return {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": False,
        "properties": {name: form(_to(f"factor.{name}")) for name in names},
        "patternProperties": {_ANY_SETTING: form(_to("factor"))},
    }


def _properties(levels: Mapping[str, Schema]) -> Schema:
    """Hadoop's properties by their own names."""
    named = {
        name.removeprefix(HADOOP): _to(f"level.{name}")
        for name in levels
        if name.startswith(HADOOP)
    }
    return {"type": "object", "properties": named, "additionalProperties": _SCALAR}


def _search() -> Schema:
    budget = {"description": "120 trials, or the time of trials, such as 2h.", **_TEXT}
    worst = {
        "description": "What a candidate may lose on any workload, such as 5%.",
        **_TEXT,
    }
    tried = {
        "description": "Points that are known to be good, by labels.",
        "type": "object",
        "additionalProperties": {"type": "object", "additionalProperties": _SCALAR},
    }
    keys = {"parameters": _to("parameters"), "budget": budget, "try": tried, "worst": worst}
    return _object(keys, required=("parameters", "budget"))


def _design() -> Schema:
    kind: Schema = {"enum": [str(each) for each in DesignKind]}
    keys: dict[str, Schema] = {
        "kind": kind,
        "fold_over": {"type": "boolean"},
        "resolution": {"type": "integer", "minimum": 3, "maximum": 5},
        "reduction": {"type": "integer", "minimum": 2, "maximum": 100},
    }
    return {"anyOf": [kind, _object(keys, required=("kind",))]}


def _workloads() -> Schema:
    named: dict[str, Schema] = {
        name: {
            "description": f"It models {workloads.get(name).models}.",
            "anyOf": [_to(f"options.{name}"), {"type": "null"}],
        }
        for name in workloads.names()
    }
    one = {**_object(named), "minProperties": 1, "maxProperties": 1}
    entry = {"anyOf": [{"enum": list(workloads.names())}, one]}
    return {"type": "array", "minItems": 1, "maxItems": MAX_WORKLOADS, "items": entry}


def _load() -> Schema:
    levels = {"type": "array", "minItems": 2, "items": _SCALAR}
    pattern = f"^{OPTION_PREFIX}".replace(".", r"\.")
    return {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "patternProperties": {pattern: levels},
    }


def _object(properties: Mapping[str, Schema], required: tuple[str, ...] = ()) -> Schema:
    wanted = {"required": list(required)} if required else {}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": dict(properties),
        **wanted,
    }


def _map(values: Schema) -> Schema:
    return {"type": "object", "minProperties": 1, "additionalProperties": values}


def _to(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _name_of(ref: Schema) -> str:
    return str(ref["$ref"]).removeprefix("#/$defs/")
