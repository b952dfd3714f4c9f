"""XML of site files as Hadoop's parser reads it, with entities of local files.

Source: Configuration.java of Apache Hadoop 3.4.2, and Woodstox with its defaults. Nothing is
fetched from the network.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname
from xml.etree import ElementTree
from xml.parsers import expat

from iostudy.safe_path import read_regular

_MAX_BYTES = 16 << 20
_ROOT = 0


@dataclass(frozen=True)
class XmlFile:
    """An XML file that a site file leads to, on behalf of the user ``author``.

    The author of a file has no more access to others through it than without iostudy: as root,
    iostudy could read any.
    """

    path: Path
    author: int

    @classmethod
    def of(cls, path: Path) -> XmlFile:
        """Return a site file; its own owner is the author. OSError if it is missing."""
        return cls(path, path.lstat().st_uid)

    def leads_to(self, path: Path) -> XmlFile:
        """Return a file that this one includes. OSError if it is missing, or not for the author."""
        resolved = _resolve(path)
        owner = resolved.stat().st_uid
        if self.author not in (_ROOT, os.geteuid(), owner) and not _is_public(resolved):
            fault = f"{path} is not readable for uid {self.author}, whose file {self.path} names it"
            raise PermissionError(errno.EACCES, fault)
        return XmlFile(path, self.author if owner in (_ROOT, os.geteuid()) else owner)

    def parse(self) -> ElementTree.Element:
        """Return the root element, with local names.

        OSError, ExpatError, or as expat for an unknown encoding LookupError or ValueError.
        """
        builder = ElementTree.TreeBuilder()
        parser = expat.ParserCreate()
        parser.StartElementHandler = lambda name, given: builder.start(_local(name), given)
        parser.EndElementHandler = lambda name: builder.end(_local(name))
        parser.CharacterDataHandler = builder.data
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
        self._parse_with(parser)
        return builder.close()

    def _parse_with(self, parser: expat.XMLParserType) -> None:
        def include(context: str | None, _: str | None, system: str | None, __: object) -> int:
            entity = self.leads_to(self.path.parent / _file_name(system or ""))
            entity._parse_with(parser.ExternalEntityParserCreate(context))
            return 1

        parser.ExternalEntityRefHandler = include
        parser.Parse(read_regular(_resolve(self.path), _MAX_BYTES), True)


def local_file(reference: str) -> str:
    """Return the path in a reference: a path, or a URL ``file:``; "" for another URL."""
    try:
        url = urlsplit(reference)
    except ValueError:  # no address
        return ""
    if not url.scheme:
        return reference
    is_local = url.scheme == "file" and url.netloc in ("", "localhost")
    path = url2pathname(url.path) if is_local and url.path.startswith("/") else ""
    return "" if "\0" in path else path


def _file_name(system: str) -> str:
    name = local_file(system)
    if not name:
        raise OSError(errno.EPROTONOSUPPORT, f"the entity {system!r} is not a local file")
    return name


def _resolve(path: Path) -> Path:
    """Unlike Path.resolve, raises OSError for links that never end."""
    return Path(os.path.realpath(path, strict=True))


def _local(name: str) -> str:
    """Hadoop compares names without their prefix."""
    return name.rpartition(":")[2]


def _is_public(path: Path) -> bool:
    """Whether any user can read the file, and search the folders above it."""
    readable = path.stat().st_mode & stat.S_IROTH
    return bool(readable) and all(parent.stat().st_mode & stat.S_IXOTH for parent in path.parents)
