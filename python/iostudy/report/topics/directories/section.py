"""Report section on the directories that a study compares."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.report.formatting import join_words
from iostudy.report.section import Section
from iostudy.report.text_table import TextTable
from iostudy.report.topics.directories.values import DirectoryReport
from iostudy.report.values import Report
from iostudy.storage_kind import StorageKind

_EXPLANATION = (
    "Each directory had data of its own, with the same content, made again in every block. A "
    "figure is that of the whole path: file system, devices, and network and servers if there are "
    "any."
)


def build_directories_section(report: Report) -> Section | None:
    """None for a study with a single place."""
    found = report.directories
    if not found:
        return None
    return Section(
        name="directories",
        title="Directories compared",
        notes=(_EXPLANATION, *_describe_caches(found)),
        tables=(_table(found),),
    )


def _describe_caches(found: tuple[DirectoryReport, ...]) -> Iterator[str]:
    kept = [own.name for own in found if not StorageKind(own.storage).drops_caches]
    if kept:
        yield (
            f"For {join_words(kept)}, only the caches of this host's kernel were dropped before "
            "trials that read. A server or a FUSE process may have served data from its memory."
        )


def _table(found: tuple[DirectoryReport, ...]) -> TextTable:
    heads = ("directory", "storage", "file system", "source", "mounted on", "options")
    rows = [
        (
            *(own.name, own.storage, own.filesystem),
            *(own.source, own.mount_point, " ".join(own.options)),
        )
        for own in found
    ]
    return TextTable("", heads, rows, names=3, words=3)
