"""Variables in the values of properties: ``${hadoop.tmp.dir}/dfs``, ``${env.HOME}`` (pure).

Source: Configuration.substituteVars (Apache Hadoop 3.4.2).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from iostudy_hadoop.spec import Properties

_MAX_DEPTH = 20
_VARIABLE = re.compile(r"\$\{([^\s${}]+)\}")
_ENVIRONMENT = re.compile(r"env\.(?P<name>[^:-]+)(?:(?P<empty>:?)-(?P<default>.*))?")


def resolve_variables(properties: Properties, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the properties with all known variables replaced; unknown ones stay as written."""
    return {name: _resolve(value, properties, environ) for name, value in properties.items()}


def _resolve(value: str, properties: Properties, environ: Mapping[str, str]) -> str:
    for _ in range(_MAX_DEPTH):
        replaced = _VARIABLE.sub(lambda m: _value(m, properties, environ), value)
        if replaced == value:
            break
        value = replaced
    return value


def _value(variable: re.Match[str], properties: Properties, environ: Mapping[str, str]) -> str:
    name = variable[1]
    environment = _ENVIRONMENT.fullmatch(name)
    if environment is None:
        return properties.get(name, variable[0])
    value = environ.get(environment["name"])
    if value is None or (environment["empty"] and not value):
        value = environment["default"]
    return variable[0] if value is None else value
