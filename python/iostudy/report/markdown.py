"""The report as Markdown (CommonMark with GitHub's tables), for tickets and repositories."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence

from iostudy.report import configurations, rank_tables, tables, wording
from iostudy.report.columns import TextTable
from iostudy.report.telemetry import MACHINE, MeterGroup, meter_groups
from iostudy.report.values import (
    RankingTold,
    ReferenceTold,
    Report,
    Result,
    TrialTold,
    WorkloadTold,
)

_SPECIAL = re.compile(r"([\\`*<>|#~&$]|(?<!\w)_|_(?!\w)|\](?=[(\[:]))")

_MOST_ROWS = 24
"""As many rows as are read in passing; tables with more are kept shut."""


def render(report: Report) -> str:
    """``report.md``: the answer first, then what it rests on."""
    sections = (
        f"# {_text(report.question)}",
        "\n\n".join(_text(sentence) for sentence in report.answer),
        _list(*report.notes),
        _ranking(report.ranking, report) if report.ranking else "",
        *(_workload(workload, report) for workload in report.workloads),
        _reference(report.reference) if report.reference else "",
        _configurations(report),
        f"## Method\n\n{_text(report.method.text)}",
        f"## Host\n\n{_folded('Inventory', json.dumps(report.circumstances, indent=2), 'json')}",
        f"## Study file\n\n{_fenced(report.study_text, 'yaml')}",
        "## Reproduce\n\n" + "\n".join(f"{n}. {s}" for n, s in enumerate(report.reproduce, 1)),
        _origin(report),
    )
    return "\n\n".join(section for section in sections if section) + "\n"


def _origin(report: Report) -> str:
    begun = wording.moment(report.started_at)
    version, seed = _text(report.iostudy_version), report.method.seed
    return f"{_text(report.name)}, begun {begun}, iostudy {version}, seed {seed}."


def _ranking(told: RankingTold, report: Report) -> str:
    """All workloads together; each alone where they contradict each other."""
    alone = rank_tables.alone(told, report)
    parts = (
        f"## {rank_tables.TITLE}",
        _text_table(rank_tables.combined(told, report)),
        _text(rank_tables.known(told, report)),
        _list(*rank_tables.remarks(told, report)),
        _text_table(alone) if alone else "",
        _shut("every pair", _text_table(rank_tables.pairs(told, report))),
    )
    return "\n\n".join(part for part in parts if part)


def _workload(workload: WorkloadTold, report: Report) -> str:
    left_out = [t for t in report.trials if t.workload == workload.label and wording.remark(t)]
    parts = (
        f"## {_text(workload.label)}",
        _verdicts(workload, report),
        _text(wording.blocks_legend(workload.results)),
        _telemetry(workload, report),
        "\n".join(f"- {line}" for line in _remarks(left_out)),
        *_details(workload),
    )
    return "\n\n".join(part for part in parts if part)


def _details(workload: WorkloadTold) -> Iterator[str]:
    """What was measured beside the figure of the verdicts; many rows are kept shut."""
    for section in tables.sections(workload):
        text = "\n\n".join((_text(section.known), *map(_text_table, section.tables)))
        if sum(len(table.rows) for table in section.tables) > _MOST_ROWS:
            yield _shut(f"{workload.label}: {section.title}", text)
        else:
            yield f"### {_text(section.title)}\n\n{text}"


def _text_table(table: TextTable) -> str:
    alignment = "l" * table.names + "r" * (len(table.heads) - table.names)
    title = f"{_text(table.title)}:\n\n" if table.title else ""
    return title + _table(table.heads, table.rows, alignment)


def _verdicts(workload: WorkloadTold, report: Report) -> str:
    figure = workload.figure
    heads = (
        report.noun,
        f"{figure.name}, {figure.unit}",
        f"{wording.against(report.baseline)}, %",
        "verdict",
        "blocks",
        "by ranks, %",
    )
    return _table(heads, [_verdict_row(result) for result in workload.results], "lrrlrr")


def _verdict_row(result: Result) -> tuple[str, ...]:
    return (
        result.configuration,
        wording.significant(result.value),
        "" if result.baseline else wording.change(result),
        wording.verdict(result),
        wording.blocks(result),
        "" if result.baseline else wording.signed_span(result.robust_interval),
    )


def _telemetry(workload: WorkloadTold, report: Report) -> str:
    told = [own for own in report.telemetry if own.workload == workload.label]
    groups = [g for g in meter_groups(told) if g.title in (report.device, MACHINE)]
    tables = (_meters(group, [own.configuration for own in told]) for group in groups)
    return "\n\n".join(filter(None, tables))


def _meters(group: MeterGroup, configurations: Sequence[str]) -> str:
    heads = (f"telemetry of {group.title}", *configurations)
    moved = [(name, values) for name, values in group.rows if any(values)]
    rows = [(name, *map(wording.significant, values)) for name, values in moved]
    return _table(heads, rows, "l" + "r" * len(configurations)) if rows else ""


def _reference(reference: ReferenceTold) -> str:
    title = f"## Beside {_text(reference.name)}"
    if not reference.compared:
        return f"{title}\n\n{_text(wording.reference_alone(reference))}"
    heads = ("figure", "configuration", "published", "change", "own", "own change, %")
    rows = [
        (
            wording.published_name(published),
            published.configuration,
            wording.published_value(published),
            wording.published_change(published),
            wording.own_value(published),
            wording.own_change(published),
        )
        for published in reference.compared
    ]
    return "\n\n".join(
        (
            title,
            _text(wording.reference_intro(reference)),
            _table(heads, rows, "llrrrr"),
            _list(*reference.circumstances, *reference.caveats),
            "Left open there:",
            _list(*reference.open_questions),
        )
    )


def _configurations(report: Report) -> str:
    heads = (report.noun, *configurations.HEADS)
    rows = [
        (own.label, *row) for own in report.configurations for row in configurations.levels(own)
    ]
    return f"## Configurations\n\n{_table(heads, rows, 'llll')}" if rows else ""


def _remarks(trials: Sequence[TrialTold]) -> Iterator[str]:
    for trial in trials:
        about = f"{trial.configuration}, block {trial.block}"
        yield f"trial {trial.number} ({_text(about)}): {_text(wording.remark(trial))}"


def _list(*items: str) -> str:
    return "\n".join(f"- {_text(item)}" for item in items)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], alignment: str) -> str:
    """``alignment`` has an l or r for each column."""
    rule = ["---" if side == "l" else "---:" for side in alignment]
    lines = [_line(map(_text, heads)), _line(rule), *(_line(map(_text, row)) for row in rows)]
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _text(text: str) -> str:
    """Text of others as text: nothing in it is markup, or ends a line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _folded(summary: str, text: str, language: str) -> str:
    """A code block that is kept shut."""
    return _shut(summary, _fenced(text, language))


def _shut(summary: str, markdown: str) -> str:
    """What GitHub and others keep shut until it is asked for."""
    return f"<details><summary>{html.escape(summary)}</summary>\n\n{markdown}\n\n</details>"


def _fenced(text: str, language: str) -> str:
    """A code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
