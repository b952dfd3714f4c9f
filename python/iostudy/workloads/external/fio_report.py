"""Parser of fio's json+ output: figures, parts and histograms.

Fields as in fio(1), "JSON OUTPUT" and "JSON+ OUTPUT". Latencies are completion latencies, or total
ones where the job file asks for percentiles of these only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iostudy.units import MIB
from iostudy.workloads.definition import Figure
from iostudy.workloads.measurement import Histogram, Part
from iostudy.workloads.native.latency import (
    PERCENTILES,
    histogram_readings,
    latency_figures,
    pool_histograms,
)

_READ, _WRITE = "read", "write"
_APART = (_READ, _WRITE, "trim")
_MIXED = "mixed"
_SYNC = "sync"
_NS_PER_US = 1000.0

Entries = Sequence[tuple[int, Mapping[str, Any]]]
"""The entries of a direction in all jobs, each with the group of its job."""


class NoReportError(ValueError):
    """The output of fio has no report; the text quotes the output."""


@dataclass(frozen=True)
class FioReport:
    """fio's report: an entry per job, or per group where the job file asks for that."""

    version: str
    jobs: Sequence[Mapping[str, Any]]
    global_options: Mapping[str, str]

    def failures(self) -> list[str]:
        """Return the jobs that ended with an error."""
        return [
            f"job {j['jobname']} ended with error {j['error']}" for j in self.jobs if j["error"]
        ]

    def notes(self) -> list[str]:
        """Return notes on jobs that continued after errors, as their job file requests."""
        return [
            f"job {job['jobname']} went on after {job['total_err']} errors"
            for job in self.jobs
            if job.get("total_err")
        ]

    def options(self) -> list[tuple[int, dict[str, str]]]:
        """Return the group and the parameters with a value of each job, as fio obeyed them."""
        return [
            (job["groupid"], {n: value for n, value in job.get("job options", {}).items() if value})
            for job in self.jobs
        ]

    def circumstances(self) -> dict[str, str]:
        """Return fio's version, and names, errors and parameters of all jobs and ``[global]``."""
        values: dict[str, set[str]] = {"version": {self.version}}
        for job, (_, options) in zip(self.jobs, self.options(), strict=True):
            named = {"job": job["jobname"], **self.global_options, **options}
            errors = {"errors": job["total_err"]} if job.get("total_err") else {}
            for name, value in {**named, **errors}.items():
                values.setdefault(name, set()).add(str(value))
        return {name: ", ".join(sorted(texts)) for name, texts in values.items()}

    def runs_for(self, seconds: float) -> bool:
        """Whether a job ran as long as that, within 1 %."""
        return any(job.get("job_runtime", 0) >= 990 * seconds for job in self.jobs)

    def moved_bytes(self) -> int:
        """Return the bytes read and written."""
        return _sum(_together(self.jobs, (_READ, _WRITE)), "io_bytes")

    def figures(self, phases: Sequence[int]) -> dict[str, float]:
        """Return the figures of all jobs together; ``phases`` gives the phase of each group.

        A rate is over the time of the longest job of each phase, as in fio's group summary.
        Operations that did not occur have no figures.
        """
        figures = self._rates(phases, _together(self.jobs, (_READ, _WRITE)), "")
        figures |= _latencies(_together(self.jobs, _APART), "latency")
        for direction in _APART:
            figures |= self._rates(phases, _apart(self.jobs, direction), f"{direction}_")
        for direction in (_READ, _WRITE):
            figures |= _latencies(_apart(self.jobs, direction), f"{direction}_latency")
        return figures | _latencies(_apart(self.jobs, _SYNC), "sync_latency")

    def all_figures(self) -> dict[str, float]:
        """Return the figures of a report whose job file is unknown.

        Each group of jobs is a phase of its own. Without the histograms of json+, the percentiles
        of a direction are those of its only job, if it has one.
        """
        groups = {job["groupid"] for job in self.jobs}
        figures = self.figures(range(max(groups) + 1))
        percentiles = {name: _percentiles(_apart(self.jobs, name)) for name in (*_APART, _SYNC)}
        present = [
            direction for direction in _APART if _sum(_apart(self.jobs, direction), "total_ios")
        ]
        for direction in (_READ, _WRITE, _SYNC):
            figures = {
                f"{direction}_latency_{p}": us for p, us in percentiles[direction].items()
            } | figures
        if len(present) == 1:
            figures = {f"latency_{p}": us for p, us in percentiles[present[0]].items()} | figures
        return figures

    def _rates(self, phases: Sequence[int], entries: Entries, prefix: str) -> dict[str, float]:
        longest: dict[int, int] = {}
        for group, entry in entries:
            phase = phases[group]
            longest[phase] = max(longest.get(phase, 0), entry["runtime"])
        seconds = sum(longest.values()) / 1000
        if not seconds:
            return {}
        moved, operations = (_sum(entries, field) for field in ("io_bytes", "total_ios"))
        return {f"{prefix}bandwidth": moved / MIB / seconds, f"{prefix}iops": operations / seconds}

    def histograms(self) -> dict[str, Histogram]:
        """Return the histograms by direction, and those of fsync and similar calls."""
        histograms = {
            direction: pool_histograms(_bins(entry) for _, entry in _apart(self.jobs, direction))
            for direction in (*_APART, _MIXED, _SYNC)
        }
        return {direction: histogram for direction, histogram in histograms.items() if histogram}

    def parts(self) -> tuple[Part, ...]:
        """Return each entry of the report; clones of a job are numbered from 1."""
        clones: dict[tuple[str, int], int] = {}
        entries = []
        for job in self.jobs:
            key = (job["jobname"], job["groupid"])
            clones[key] = clones.get(key, 0) + 1
            labels = {"job": key[0], "group": str(key[1]), "clone": str(clones[key])}
            entries.append(Part(labels, _part(job)))
        return tuple(entries)


def parse(text: str) -> FioReport:
    """Parse the report in fio's output and ignore other text.

    NoReportError if it is missing or incomplete, or if there are several.
    """
    documents = list(_find_documents(text))
    if not documents:
        raise NoReportError("no whole JSON document with jobs")
    if len(documents) > 1:
        raise NoReportError(f"{len(documents)} reports, of several runs or of --status-interval")
    return _valid(documents[0])


def _find_documents(text: str) -> Iterator[Mapping[str, Any]]:
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start >= 0:
        end = start + 1
        try:
            document, whole = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            document = None
        if isinstance(document, dict) and isinstance(document.get("jobs"), list):
            yield document
            end = whole
        start = text.find("{", end)


def _valid(document: Mapping[str, Any]) -> FioReport:
    version = str(document.get("fio version", "fio of unknown version"))
    report = FioReport(version, document["jobs"], document.get("global options", {}))
    if not report.jobs:
        raise NoReportError("a report without jobs")
    try:
        report.moved_bytes()
        report.figures([0] * len(report.jobs))
        report.histograms()
        report.parts()
        report.failures()
        report.circumstances()
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise NoReportError(f"a report of {version}, without what fio 3 has: {error!r}") from error
    return report


def _apart(jobs: Sequence[Mapping[str, Any]], direction: str) -> Entries:
    return [(job["groupid"], job[direction]) for job in jobs if direction in job]


def _together(jobs: Sequence[Mapping[str, Any]], directions: Sequence[str]) -> Entries:
    """Return the entries for all directions together of unified_rw_reporting=both."""
    return [
        (job["groupid"], job[direction])
        for job in jobs
        for direction in ((_MIXED,) if _MIXED in job else directions)
        if direction in job
    ]


def _sum(entries: Entries, field: str) -> int:
    return sum(entry[field] for _, entry in entries)


def _bins(entry: Mapping[str, Any]) -> Histogram:
    """Return the histogram of a direction in microseconds, with fio's resolution."""
    for kind in ("clat_ns", "lat_ns"):
        bins = entry.get(kind, {}).get("bins")
        if bins:
            counts = sorted((int(upper), int(count)) for upper, count in bins.items())
            return tuple((upper / _NS_PER_US, count) for upper, count in counts if count)
    return ()


def _longest_us(entry: Mapping[str, Any]) -> float:
    kind = "clat_ns" if entry.get("clat_ns", {}).get("bins") else "lat_ns"
    return float(entry[kind]["max"]) / _NS_PER_US


def _latencies(entries: Entries, prefix: str) -> dict[str, float]:
    measured = [entry for _, entry in entries if _bins(entry)]
    if not measured:
        return {}
    together: dict[float, int] = {}
    for upper, count in (bucket for entry in measured for bucket in _bins(entry)):
        together[upper] = together.get(upper, 0) + count
    histogram = tuple(sorted(together.items()))
    return histogram_readings(histogram, max(map(_longest_us, measured)), prefix)


def _percentiles(entries: Entries) -> dict[str, float]:
    """Return fio's own percentiles in microseconds, by the end of their figures' names."""
    measured = [entry for _, entry in entries if entry.get("total_ios")]
    if len(measured) != 1:
        return {}
    # A sync has one latency, and no time between submission and completion.
    kinds = (measured[0].get(kind, {}) for kind in ("clat_ns", "lat_ns"))
    percentiles: Mapping[str, float] = next(
        (kind["percentile"] for kind in kinds if "percentile" in kind), {}
    )
    by_share = {f"{float(share):g}": value / _NS_PER_US for share, value in percentiles.items()}
    return {f"p{p:g}": by_share[f"{p:g}"] for p in PERCENTILES if f"{p:g}" in by_share}


def _part(job: Mapping[str, Any]) -> dict[str, float]:
    figures = {"cpu_user": float(job["usr_cpu"]), "cpu_system": float(job["sys_cpu"])}
    for direction in (*_APART, _MIXED):
        entry = job.get(direction)
        if entry and entry["total_ios"]:
            figures[f"{direction}_bandwidth"] = entry["bw_bytes"] / MIB
            figures[f"{direction}_iops"] = float(entry["iops"])
            figures[f"{direction}_latency_mean"] = entry["lat_ns"]["mean"] / _NS_PER_US
            figures |= _latencies([(0, entry)], f"{direction}_latency")
    return figures


def _rate_figures(what: str, prefix: str) -> tuple[Figure, ...]:
    return (
        Figure(f"{prefix}bandwidth", "MiB/s", f"{what} over the time of the longest job", True),
        Figure(f"{prefix}iops", "op/s", f"operations instead of bytes: {what}", True),
    )


FIGURES = (
    *_rate_figures("all that was read and written", ""),
    *_rate_figures("all that was read", "read_"),
    *_rate_figures("all that was written", "write_"),
    *_rate_figures("all that was trimmed", "trim_"),
    *latency_figures("an operation of any kind"),
    *latency_figures("a read", "read_latency"),
    *latency_figures("a write, without the syncs after it", "write_latency"),
    *latency_figures("an fsync, fdatasync or sync_file_range", "sync_latency"),
)

PART_FIGURES = (
    *(
        figure
        for direction in (*_APART, _MIXED)
        for figure in (
            Figure(f"{direction}_bandwidth", "MiB/s", f"{direction}, by fio's own figure", True),
            Figure(f"{direction}_iops", "op/s", f"{direction}, by fio's own figure", True),
            Figure(f"{direction}_latency_mean", "us", "mean from submission to completion", False),
            *latency_figures(f"an operation: {direction}", f"{direction}_latency"),
        )
    ),
    Figure("cpu_user", "%", "share of the job's time in its own code", False),
    Figure("cpu_system", "%", "share of the job's time in the kernel", False),
)
