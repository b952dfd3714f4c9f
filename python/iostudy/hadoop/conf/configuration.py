"""Hadoop site files: reading them and overriding their properties for a trial.

Format: Configuration.java and the xi:include of its file loader (Apache Hadoop 3.4.2). Hadoop reads
SITE_FILES in this order; a later file wins, except over a property that an earlier one calls final.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from iostudy.durable import replace_whole
from iostudy.errors import UsageError
from iostudy.hadoop.spec import Properties

SITE_FILES = ("core-site.xml", "hdfs-site.xml", "mapred-site.xml", "yarn-site.xml")

_INCLUDE = "{http://www.w3.org/2001/XInclude}include"
_FALLBACK = "{http://www.w3.org/2001/XInclude}fallback"
_MAX_INCLUDES = 16
SIZE = re.compile(r"([0-9]+)([kmgtpe]?)", re.IGNORECASE)
"""A size in the form of properties: ``64m``."""


@dataclass(frozen=True)
class SiteFile:
    """The properties of one file; no later file may change the names in ``final``."""

    properties: Properties = field(default_factory=dict)
    final: frozenset[str] = frozenset()

    def render(self) -> bytes:
        """Return the text of the file; UsageError for a name or value that it cannot hold."""
        root = ElementTree.Element("configuration")
        for name, value in self.properties.items():
            require_plain(name, value)
            element = ElementTree.SubElement(root, "property")
            ElementTree.SubElement(element, "name").text = name
            ElementTree.SubElement(element, "value").text = value
            if name in self.final:
                ElementTree.SubElement(element, "final").text = "true"
        ElementTree.indent(root)
        return b'<?xml version="1.0"?>\n' + ElementTree.tostring(root, "unicode").encode() + b"\n"


@dataclass(frozen=True)
class HadoopConfiguration:
    """The site files of one conf folder, by name."""

    files: Mapping[str, SiteFile]

    @classmethod
    def with_all(cls, properties: Properties) -> HadoopConfiguration:
        """Return one with these properties in every file, for all of Hadoop's programs."""
        return cls(dict.fromkeys(SITE_FILES, SiteFile(properties)))

    @classmethod
    def read(cls, folder: Path) -> HadoopConfiguration:
        """Read the existing site files; UsageError without any, or if one is unreadable."""
        paths = [folder / name for name in SITE_FILES if (folder / name).exists()]
        if not paths:
            raise UsageError(
                f"a folder with Hadoop's site files: {', '.join(SITE_FILES)}",
                found="none of them",
                where=str(folder),
                remedy="name the folder that holds the cluster's configuration",
            )
        return cls({path.name: read_site_file(path) for path in paths})

    def effective(self) -> dict[str, str]:
        """Return the properties of a program that reads all files; ``${...}`` stays as written."""
        properties: dict[str, str] = {}
        final: frozenset[str] = frozenset()
        for name in SITE_FILES:
            site = self.files.get(name, SiteFile())
            properties |= {key: site.properties[key] for key in site.properties.keys() - final}
            final |= site.final
        return properties

    def final(self) -> Mapping[str, str]:
        """Return the final names, each with the file that declares it."""
        return {name: file for file, site in self.files.items() for name in site.final}

    def with_properties(self, properties: Properties) -> HadoopConfiguration:
        """Return a copy in which these properties override all files.

        UsageError for a final property, unless it already has that value.
        """
        held = self.effective()
        for name, file in self.final().items():
            if properties.get(name, held[name]) != held[name]:
                raise _is_final(name, properties[name], held[name], file)
        sites = {name: self.files.get(name, SiteFile()) for name in SITE_FILES}
        return HadoopConfiguration(
            {
                name: SiteFile({**site.properties, **properties}, site.final)
                for name, site in sites.items()
            }
        )

    def write(self, folder: Path) -> None:
        """Write the files into an existing folder. Raises OSError."""
        for name, site in self.files.items():
            replace_whole(folder / name, site.render())


def require_plain(name: str, value: str) -> None:
    """UsageError for an empty name, a newline or a control character."""
    if name and name.isprintable() and not any(map(str.isspace, name)) and value.isprintable():
        return
    raise UsageError(
        "a property whose name has no blanks, and whose value is one line of printable characters",
        found=f"{name!r}: {value!r}",
        where="Hadoop's properties",
        remedy="write the value in one line, without control characters",
    )


def size_bytes(text: str) -> int:
    """Return the bytes of a property such as ``64m``, as Configuration.getLongBytes parses it.

    UsageError for any other text.
    """
    found = SIZE.fullmatch(text.strip().lower())
    if found is None:
        raise UsageError(
            "a size as Hadoop's properties have it, such as 134217728 or 128m",
            found=repr(text),
            where="Hadoop's properties",
            remedy="write a whole number, and k, m, g, t, p, e or nothing",
        )
    return int(found[1]) << 10 * ("kmgtpe".find(found[2]) + 1 if found[2] else 0)


def read_site_file(path: Path) -> SiteFile:
    """Return the properties of a file and its includes; UsageError if one is unreadable."""
    properties: dict[str, str] = {}
    final: set[str] = set()
    for name, value, is_final in _entries(path, _parse(path), _MAX_INCLUDES):
        if name in final:
            continue
        properties[name] = value
        if is_final:
            final.add(name)
    return SiteFile(properties, frozenset(final))


def _parse(path: Path) -> ElementTree.Element:
    try:
        root = ElementTree.fromstring(path.read_bytes())
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    except ElementTree.ParseError as error:
        raise _unreadable(path, f"no XML: {error}") from error
    if root.tag != "configuration":
        raise _unreadable(path, f"XML, but <{root.tag}> instead of <configuration>")
    return root


def _entries(
    path: Path, parent: ElementTree.Element, includes_left: int
) -> Iterator[tuple[str, str, bool]]:
    """Yield name, value and final flag in the order of the file."""
    for element in parent:
        match element.tag:
            case "property":
                name = _part(element, "name").strip()
                if name and _has(element, "value"):
                    yield name, _part(element, "value"), _part(element, "final") == "true"
            case "configuration":
                yield from _entries(path, element, includes_left)
            case str() if element.tag == _INCLUDE:
                yield from _included(path, element, includes_left - 1)


def _included(
    path: Path, element: ElementTree.Element, includes_left: int
) -> Iterator[tuple[str, str, bool]]:
    href = element.get("href", "")
    other = path.parent / href
    fallback = element.find(_FALLBACK)
    if "://" in href or not includes_left:
        why = "more than a file" if includes_left else "includes that never end"
        raise _unreadable(path, f"xi:include of {href!r}: {why}")
    if fallback is not None and not other.exists():
        yield from _entries(path, fallback, includes_left)
    else:
        yield from _entries(other, _parse(other), includes_left)


def _has(element: ElementTree.Element, part: str) -> bool:
    return part in element.attrib or element.find(part) is not None


def _part(element: ElementTree.Element, part: str) -> str:
    """Return a part of a property, which Hadoop accepts as an element or an attribute."""
    return element.findtext(part, "") or element.get(part, "")


def _is_final(name: str, wanted: str, found: str, file: str) -> UsageError:
    return UsageError(
        f"{name} = {wanted}",
        found=f"it is {found}, and final: no client may change it",
        where=file,
        remedy="leave it out of the study, or have <final> removed from the cluster's file",
    )


def _unreadable(path: Path, found: str) -> UsageError:
    return UsageError(
        "a site file of Hadoop's",
        found=found,
        where=str(path),
        remedy="correct the file; `hadoop conftest` shows how Hadoop parses it",
    )
