"""Hadoop site files: reading them and overriding their properties for a trial.

Format: Configuration.java and the xi:include of its file loader (Apache Hadoop 3.4.2). Hadoop reads
SITE_FILES in this order; a later file wins, except over a property that an earlier one calls final.
Values of the cluster's own files are copied as they are, those of a study have one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers.expat import ExpatError

from iostudy.durable import replace_whole
from iostudy.errors import UsageError
from iostudy_hadoop.conf.site_xml import XmlFile, local_file
from iostudy_hadoop.spec import Properties

SITE_FILES = ("core-site.xml", "hdfs-site.xml", "mapred-site.xml", "yarn-site.xml")

_MAX_INCLUDES = 16
SIZE = re.compile(r"([0-9]+)([kmgtpe]?)", re.IGNORECASE)
"""A size in the form of properties: ``64m``."""


@dataclass(frozen=True)
class SiteFile:
    """The properties of one file; no later file may change the names in ``final``."""

    properties: Properties = field(default_factory=dict)
    final: frozenset[str] = frozenset()

    def render(self) -> bytes:
        """Return the text of the file."""
        root = ElementTree.Element("configuration")
        for name, value in self.properties.items():
            element = ElementTree.SubElement(root, "property")
            ElementTree.SubElement(element, "name").text = name
            ElementTree.SubElement(element, "value").text = value
            if name in self.final:
                ElementTree.SubElement(element, "final").text = "true"
        ElementTree.indent(root)
        # A parser makes a line feed of a carriage return that is not written as a reference.
        text = ElementTree.tostring(root, "unicode").replace("\r", "&#13;")
        return f'<?xml version="1.0"?>\n{text}\n'.encode()


@dataclass(frozen=True)
class HadoopConfiguration:
    """The site files of one conf folder, by name."""

    files: Mapping[str, SiteFile]

    @classmethod
    def with_all(cls, properties: Properties) -> HadoopConfiguration:
        """Return one with these properties in every file, for all of Hadoop's programs.

        UsageError for a property that is not plain.
        """
        _require_all_plain(properties)
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

        UsageError for a final property, unless it already has that value, and for one that is not
        plain.
        """
        _require_all_plain(properties)
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


def _require_all_plain(properties: Properties) -> None:
    for name, value in properties.items():
        require_plain(name, value)


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
    match = SIZE.fullmatch(text.strip().lower())
    if match is None:
        raise UsageError(
            "a size as Hadoop's properties have it, such as 134217728 or 128m",
            found=repr(text),
            where="Hadoop's properties",
            remedy="write a whole number, and k, m, g, t, p, e or nothing",
        )
    return int(match[1]) << 10 * ("kmgtpe".find(match[2]) + 1 if match[2] else 0)


def read_site_file(path: Path) -> SiteFile:
    """Return the properties of a file and its includes; UsageError if one is unreadable."""
    properties: dict[str, str] = {}
    final: set[str] = set()
    for name, value, is_final in _Reader(path).entries():
        if name in final:
            continue
        properties[name] = value
        if is_final:
            final.add(name)
    return SiteFile(properties, frozenset(final))


@dataclass(frozen=True)
class _Reader:
    """Reader of a site file and its includes, which yields name, value and final flag in order."""

    path: Path

    def entries(self) -> Iterator[tuple[str, str, bool]]:
        try:
            file = XmlFile.of(self.path)
        except OSError as error:
            raise _unreadable(self.path, error.strerror or str(error)) from error
        yield from self._of_file(file, _MAX_INCLUDES)

    def _of_file(self, file: XmlFile, includes_left: int) -> Iterator[tuple[str, str, bool]]:
        try:
            root = file.parse()
        except OSError as error:
            raise _unreadable(file.path, error.strerror or str(error)) from error
        except (ExpatError, LookupError, ValueError) as error:
            raise _unreadable(file.path, f"no XML: {error}") from error
        if root.tag != "configuration":
            raise _unreadable(file.path, f"XML, but <{root.tag}> instead of <configuration>")
        yield from self._below(file, root, includes_left)

    def _below(
        self, file: XmlFile, parent: ElementTree.Element, includes_left: int
    ) -> Iterator[tuple[str, str, bool]]:
        for element in parent:
            match element.tag:
                case "property":
                    name = _part(element, "name").strip()
                    if name and _has(element, "value"):
                        yield name, _part(element, "value"), _part(element, "final") == "true"
                case "configuration":
                    yield from self._below(file, element, includes_left)
                case "include" if "href" in element.attrib:
                    yield from self._included(file, element, includes_left - 1)

    def _included(
        self, file: XmlFile, element: ElementTree.Element, includes_left: int
    ) -> Iterator[tuple[str, str, bool]]:
        """Hadoop finds a relative path in the conf folder, also from an included file."""
        href = element.attrib["href"]
        included = local_file(href)
        fallback = element.find("fallback")
        other = self.path.parent / included
        if not includes_left:
            raise _unreadable(file.path, f"xi:include of {href!r}: includes that never end")
        if fallback is not None and not (included and other.exists()):
            yield from self._below(file, fallback, includes_left)
            return
        if not included:
            raise _unreadable(file.path, f"xi:include of {href!r}: no local file, and no fallback")
        if ".." in Path(included).parts and not Path(included).is_absolute():
            why = "Hadoop seeks it in the working directory of each program"
            raise _unreadable(file.path, f"xi:include of {href!r}: {why}")
        try:
            nested = file.leads_to(other)
        except OSError as error:
            raise _unreadable(other, error.strerror or str(error)) from error
        yield from self._of_file(nested, includes_left)


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
