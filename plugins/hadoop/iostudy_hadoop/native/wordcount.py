"""WordCount on a plain directory: word frequencies of texts, sorted by reducer."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from iostudy import _native, units
from iostudy.durable import replace_whole
from iostudy.errors import UsageError, WorkloadError
from iostudy.workloads.core_errors import translate_core_errors
from iostudy.workloads.definition import Figure, WorkloadDefinition
from iostudy.workloads.directories import absolute, refuse_unfit
from iostudy.workloads.file_removal import remove
from iostudy.workloads.measurement import BYTES, Measurement
from iostudy.workloads.native.latency import compact_histogram, latency_figures, latency_readings
from iostudy.workloads.option_types import Count, Options, Size, TextList, at_most
from iostudy.workloads.workload import Place, Workload, describe_version
from iostudy_hadoop.native.option_types import Directories, Memory

_TEXT, _OUTPUT, _MADE = "words-in", "words-out", "words-made.json"


def _whole(pattern: str) -> str:
    absolute(Path(pattern))
    return pattern


MAX_WORDS = 10**8
"""Different words; all stand in memory while the text is made."""


class TextOptions(Options):
    """Options of the text that is made."""

    size: Size = Field(units.GIB, description="size of the text that is made, all files together")
    files: Annotated[int, Field(ge=1, le=512)] = Field(4, description="files of the text")
    vocabulary: Annotated[Count, at_most(MAX_WORDS, units.format_count)] = Field(
        1_000_000, description="different words that the text is drawn from"
    )
    exponent: Annotated[float, Field(ge=0, le=10)] = Field(
        1.0,
        description="of Zipf's law: the word of rank r occurs in proportion to 1/r^exponent; "
        "1 is natural language, 0 draws all words with equal probability",
    )

    @property
    def text_key(self) -> str:
        """Return what trials with the same text have in common."""
        return f"{self.size} in {self.files}: {self.vocabulary} ^ {self.exponent}"

    def make_text(self, folder: Path, place: Place, threads: int) -> tuple[int, int]:
        """Make the text from the block's seed; return the number of words and their checksum."""
        text = _native.ZipfText(
            str(folder),
            text_bytes=self.size,
            files=self.files,
            vocabulary=self.vocabulary,
            exponent=self.exponent,
            seed=place.seed,
            threads=threads,
        )
        return place.run(text)


class WordcountOptions(TextOptions):
    """Options of wordcount."""

    input: TextList[Annotated[str, AfterValidator(_whole)]] = Field(
        (),
        description="texts of your own to count instead: whole paths or patterns such as "
        "/data/logs/*.log (and ** for all folders below); they are only read. "
        "size, files, vocabulary and exponent have no meaning then",
    )
    memory: Memory = Field(
        256 * units.MIB, description="what tables and buffers of all threads may take together"
    )
    threads: Annotated[int, Field(ge=1, le=256)] = Field(
        2, description="how many tasks work at a time, each a thread"
    )
    reducers: Annotated[int, Field(ge=1, le=1000)] = Field(
        2, description="files of the counted words (mapreduce.job.reduces)"
    )
    spill: Directories = Field(
        (),
        description="folders for intermediate data, in turn (mapreduce.cluster.local.dir), "
        "perhaps on several devices; none: where the text is made",
    )
    fsync: bool = Field(
        default=True,
        description="end each file of the output with fsync, inside the measured time; "
        "intermediate data are never synced",
    )

    @model_validator(mode="after")
    def _fits(self) -> WordcountOptions:
        _counting(self, Path(), ["-"], None)
        return self


def _counting(
    options: WordcountOptions, folder: Path, texts: list[str], expected: tuple[int, int] | None
) -> _native.WordCount:
    """The job; ValueError if the memory is not enough."""
    return _native.WordCount(
        texts,
        str(folder / _OUTPUT),
        memory_bytes=options.memory,
        spill=[str(path) for path in options.spill or (folder,)],
        reducers=options.reducers,
        threads=options.threads,
        fsync=options.fsync,
        expected=expected,
    )


@dataclass(frozen=True)
class Wordcount(Workload):
    """Count the words of texts that prepare has made, or of the user's own."""

    options: WordcountOptions

    def space_bytes(self) -> int:
        """The text, what is spilled of it and what comes out: each at most as large as it is."""
        made = 0 if self.options.input else self.options.size
        text = made or sum(Path(path).stat().st_size for path in self._own_texts())
        return made + text * (1 if self.options.spill else 2)

    def reads(self) -> bool:
        """The text is read from the device."""
        return True

    def contents(self) -> Iterable[tuple[str, str]]:
        """Return the versions of the user's own texts, by the name or pattern of several."""
        for name in self.options.input:
            yield name, "\n".join(f"{text} {describe_version(Path(text))}" for text in _texts(name))

    def check(self) -> None:
        """Refuse texts that cannot be read, and spill folders that cannot be written to."""
        refuse_unfit(self.options.spill, "for intermediate data")
        self._own_texts()

    def preparation(self) -> str:
        """Trials share the text however they count its words."""
        return "" if self.options.input else self.options.text_key

    def prepare(self, place: Place) -> None:
        """Make the text, and note what words it has; the user's own are there already."""
        options = self.options
        if options.input:
            return
        with translate_core_errors("to make the text", place.directory):
            made = options.make_text(place.directory / _TEXT, place, options.threads)
            replace_whole(place.directory / _MADE, json.dumps(made).encode())

    def reset(self, place: Place) -> None:
        """Remove the output, so that every trial creates a new one."""
        remove(place.directory / _OUTPUT)

    def run(self, place: Place) -> Measurement:
        """Count all words once; the output is verified afterwards."""
        texts, expected = self._own_texts(), None
        with _text_errors(place, are_own=bool(texts)):
            if not texts:
                texts = [str(path) for path in self._made_texts(place)]
                words, checksum = json.loads((place.directory / _MADE).read_text())
                expected = (words, checksum)
            job = _counting(self.options, place.directory, texts, expected)
            return _measured(place.run(job), self.options)

    def unsteady_reason(self) -> str:
        """It ends with its work."""
        return "it is one pass over its text, in phases with different I/O"

    def clean(self, place: Place) -> None:
        """Remove text and output; the user's own texts are not touched."""
        for name in (_TEXT, _OUTPUT, _MADE):
            remove(place.directory / name)

    def _made_texts(self, place: Place) -> list[Path]:
        """Return the files of the text that prepare has made."""
        folder = place.directory / _TEXT
        return [folder / f"part-m-{number:05d}" for number in range(self.options.files)]

    def _own_texts(self) -> list[str]:
        """The user's files, each once. Raises UsageError for what is not there or not readable."""
        return list(dict.fromkeys(text for name in self.options.input for text in _texts(name)))


def _texts(pattern: str) -> Iterator[str]:
    paths = [pattern] if Path(pattern).is_file() else sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - whole paths
    files = [path for path in paths if Path(path).is_file()]
    if not files:
        lacking = "that is no regular file" if Path(pattern).exists() else "no such file"
        raise _unusable(lacking, pattern)
    for path in files:
        if not os.access(path, os.R_OK):
            raise _unusable("it cannot be read", path)
    yield from files


def _unusable(found: str, where: str) -> UsageError:
    return UsageError(
        "a text to count",
        found=found,
        where=where,
        remedy="name what is there and can be read, or leave the option out",
    )


@contextmanager
def _text_errors(place: Place, *, are_own: bool) -> Iterator[None]:
    """Translate errors; those of the user's own texts are not errors of the device."""
    with translate_core_errors("to count the words", place.directory):
        try:
            yield
        except _native.VerificationError as error:
            if not are_own:
                raise
            raise WorkloadError(
                "to count the words of your texts",
                found=str(error),
                where=str(place.directory),
                remedy="make sure that no other program changes them; leave out files that are no "
                "text, or give more memory",
            ) from error


def _measured(counts: _native.WordCountResult, options: WordcountOptions) -> Measurement:
    figures = {
        "rate": counts.text_bytes / units.MIB / counts.wall_seconds,
        "exec_time": counts.wall_seconds,
        "words_per_second": counts.words / counts.wall_seconds,
        "distinct": float(counts.distinct_words),
        "count_time": counts.counting_seconds,
        "merge_time": counts.wall_seconds - counts.counting_seconds,
        "spilled": counts.spilled_bytes / units.MIB,
        "memory": counts.memory_bytes / units.MIB,
    }
    if _moves_all_on_target(options):
        figures[BYTES] = float(counts.read.bytes + counts.write.bytes)
    readings = {
        **latency_readings(counts.read.latencies, "read_latency"),
        **latency_readings(counts.write.latencies, "write_latency"),
    }
    latencies = {
        "read": compact_histogram(counts.read.latencies),
        "write": compact_histogram(counts.write.latencies),
    }
    return Measurement(figures | readings, latencies)


def _moves_all_on_target(options: WordcountOptions) -> bool:
    """Whether all reads and spills are on the target."""
    return not (options.input or options.spill)


def _figures(options: WordcountOptions) -> tuple[Figure, ...]:
    moved = Figure(BYTES, "B", "bytes read and written, those of spills among them", True)
    return (
        Figure("rate", "MiB/s", "size of the text over the time", True),
        Figure("exec_time", "s", "from the first look at the text to the output in place", False),
        Figure("words_per_second", "words/s", "words over the time", True),
        Figure("distinct", "words", "different words", True),
        Figure("count_time", "s", "reading, counting in memory, and spilling", False),
        Figure("merge_time", "s", "merging what was spilled into the output", False),
        Figure("spilled", "MiB", "sorted words with their counts, written and read again", False),
        Figure("memory", "MiB", "what tables and buffers took while counting", False),
        *((moved,) if _moves_all_on_target(options) else ()),
        *latency_figures("a read call", "read_latency"),
        *latency_figures("a write call", "write_latency"),
    )


WORDCOUNT = WorkloadDefinition(
    name="wordcount",
    models="WordCount: how often each word occurs in a text, within a memory limit. Threads read "
    "splits of 16 MiB, count their words in memory (the combiner), "
    "spill them sorted when memory is full and at the end, and merge them into files in order. "
    "White space separates words and a hash assigns them to reducers as in Hadoop, so that the "
    "same UTF-8 text gives the same files. The measured time ends with the renaming of the output. "
    "The output is then read back, and the sum of the hashes of all words must match the text",
    not_modelled="HDFS with its replication and network, YARN, the JVM and the start of tasks; "
    "words are bytes and are not decoded",
    source="Apache Hadoop, org.apache.hadoop.examples.WordCount",
    options=WordcountOptions,
    figures=_figures,
    example={"size": "64MiB", "memory": "64MiB"},
    make=Wordcount,
    concurrency_options=("threads",),
    ticks_bytes=True,
    can_be_simulated=True,
)
