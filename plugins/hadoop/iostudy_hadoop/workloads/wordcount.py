"""Hadoop's WordCount on a text of Zipf's law in HDFS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from iostudy import units
from iostudy.durable import replace_whole
from iostudy.errors import WorkloadError
from iostudy.workloads.core_errors import translate_core_errors
from iostudy.workloads.definition import Figure, WorkloadDefinition, fixed_figures
from iostudy.workloads.external.program import STDIN
from iostudy.workloads.file_removal import remove
from iostudy.workloads.measurement import Measurement
from iostudy.workloads.workload import Place
from iostudy_hadoop.native.wordcount import TextOptions
from iostudy_hadoop.shell import Shell
from iostudy_hadoop.tools import wordcount
from iostudy_hadoop.workloads import counter_figures, job
from iostudy_hadoop.workloads.job import HadoopOptions, HadoopRun, HadoopWorkload

_TEXT, _WORDS = "hadoop-words-in", "hadoop-words-made"
_THREADS = 2
"""Number of threads that make the text; the text does not depend on it."""


class HadoopWordcountOptions(TextOptions, HadoopOptions):
    """Options of hadoop.wordcount."""

    files: Annotated[int, Field(ge=1, le=512)] = Field(
        4, description="files of the text; each of their blocks is a map task"
    )
    reduces: Annotated[int, Field(ge=1, le=10_000)] = Field(
        2, description="reduce tasks, and files of the counts (mapreduce.job.reduces)"
    )


@dataclass(frozen=True)
class HadoopWordcount(HadoopWorkload):
    """Count the words of a text that prepare has put into HDFS."""

    options: HadoopWordcountOptions

    def space_bytes(self) -> int:
        """The text, as it is made and in HDFS, and what comes out: at most as large."""
        return 3 * self.options.size

    def reads(self) -> bool:
        """The text is read from the device."""
        return True

    def preparation(self) -> str:
        """Trials share the text however they count its words."""
        return self.options.text_key

    def prepare(self, place: Place) -> None:
        """Make the text on the target, note how many words it has, and move it into HDFS.

        It is made as the native wordcount makes it: both count the same words.
        """
        local = place.directory / _TEXT
        with translate_core_errors("to make the text", place.directory):
            words, _ = self.options.make_text(local, place, _THREADS)
            replace_whole(place.directory / _WORDS, str(words).encode())
        shell, limit = "org.apache.hadoop.fs.FsShell", self.options.limit
        job.run_program(place, shell, "-mkdir", "-p", _path(place, ""), limit_seconds=limit)
        # No other user enters a folder above the text, so all may read it.
        for path in (local, *local.iterdir()):
            path.chmod(0o755)
        put = ("-put", STDIN, _path(place, "in"))
        job.run_program(place, shell, *put, limit_seconds=limit, opened=local)
        remove(local)

    def reset(self, place: Place) -> None:
        """Remove the output, so that every trial creates a new one."""
        Shell.for_client(job.require_client(place)).remove(_path(place, "out"))

    def run(self, place: Place) -> Measurement:
        """Count all words once; WorkloadError unless as many are found as were written."""
        folders = (_path(place, "in"), _path(place, "out"))
        arguments = wordcount.arguments(self.options.reduces, *folders)
        limit = self.options.limit
        ran = job.run_program(place, wordcount.MAIN_CLASS, *arguments, limit_seconds=limit)
        words = self._require_all_words(ran, place)
        times = ran.times()
        figures = {
            **times,
            "rate": self.options.size / units.MIB / times["job_time"],
            "words_per_second": words / times["job_time"],
            "distinct": float(counter_figures.count_records(ran, "Reduce output records")),
            **counter_figures.read_figures(ran, job.require_client(place).replication),
        }
        return Measurement(figures)

    def clean(self, place: Place) -> None:
        """Remove text and output."""
        for name in (_TEXT, _WORDS):
            remove(place.directory / name)
        Shell.for_client(job.require_client(place)).remove(_path(place, ""))

    def _require_all_words(self, ran: HadoopRun, place: Place) -> int:
        with translate_core_errors("to find the number of words", place.directory):
            made = int((place.directory / _WORDS).read_text())
        count = counter_figures.count_records(ran, "Map output records")
        if count != made:
            raise WorkloadError(
                f"to find the {made} words that were written",
                found=f"{count} words",
                where=_path(place, "in"),
                remedy="check the devices of the DataNodes and their logs: data were changed or "
                "lost, or another program works in that folder",
            )
        return count


def _path(place: Place, name: str) -> str:
    return f"{job.require_client(place).folder}/words" + (f"/{name}" if name else "")


WORDCOUNT = WorkloadDefinition(
    name="hadoop.wordcount",
    models="WordCount on HDFS: the frequency of each word in a text. The text is that of "
    "wordcount, by Zipf's law from the block's seed. It is made on the target and moved "
    "into HDFS once per block. The number of counted words is verified",
    not_modelled="a sync to disk, which Hadoop does not request. With the local runner, "
    "mapreduce.local.map.tasks.maximum and mapreduce.local.reduce.tasks.maximum limit the "
    "concurrent tasks",
    source="Apache Hadoop, org.apache.hadoop.examples.WordCount",
    options=HadoopWordcountOptions,
    figures=fixed_figures(
        job.JOB_TIME,
        Figure("rate", "MiB/s", "size of the text over job_time", True),
        Figure("words_per_second", "words/s", "words over job_time", True),
        Figure("distinct", "words", "different words", True),
        job.PROGRAM_TIME,
        *counter_figures.FIGURES,
    ),
    example={"size": "8MiB", "files": 2, "vocabulary": "10k"},
    make=HadoopWordcount,
    service="hadoop",
)
