"""Tables of docs/method/calibration.md on corrected claims."""

from __future__ import annotations

from iostudy.analysis.verdict import Verdict
from tests.calibration import claims
from tests.calibration.rows import Row, percent

STUDIES = 2_000
LEVEL_STUDIES = 20_000


def corrected_claims() -> list[Row]:
    """Wrong results by the earlier rule and by the present one."""
    rows: list[Row] = [("case", "earlier", "now")]
    for workloads in (4, 9):
        rates = [claims.first_run_slower(workloads, STUDIES, waits=on) for on in (False, True)]
        name = f"first run of a block 5 % slower, {workloads} workloads: false winner"
        rows.append((name, *map(percent, rates)))
    for noise in (0.15, 0.25):
        rates = list(claims.recommended(noise, 0.10, STUDIES))
        name = f"10 % worse on one of four workloads, noise {100 * noise:.0f} %: recommended"
        rows.append((name, *map(percent, rates)))
    rates = list(claims.failing_stalls(STUDIES))
    rows.append(("10 % of runs stall, those of one side fail: false winner", *map(percent, rates)))
    return rows


def rare_slow_runs() -> list[Row]:
    """Verdicts of a configuration whose mean is at -margin because of its slow runs."""
    head = ("slow runs", "equivalent by means", "equivalent, typical run")
    rows: list[Row] = [(*head, "equivalent with `rare` at that share", "bound below that share")]
    rates = {share: claims.slow_runs(share, STUDIES) for share in (0.05, 0.10)}
    return [*rows, *((percent(share), *map(percent, found)) for share, found in rates.items())]


def one_sided_words() -> list[Row]:
    """Verdicts of one of six comparisons at a noise of 6 % and a margin of 3 %."""
    shown = (Verdict.EQUIVALENT, Verdict.BETTER, Verdict.WORSE, Verdict.NOT_WORSE)
    rows: list[Row] = [("true difference", *map(str, shown), "not better", "blocks")]
    for name, difference in (("0 %", 0.0), ("+1 %", 0.01), ("-1 %", -0.01), ("-3 %", -0.0296)):
        ended = claims.words_of_six(difference, STUDIES)
        words = (percent(ended.share(word)) for word in (*shown, Verdict.NOT_BETTER))
        rows.append((name, *words, f"{ended.blocks.mean():.1f}"))
    return rows


def several_figures() -> list[Row]:
    """False claims on two figures, of which one part is false."""
    head = ("case", "correlation", "first figure better")
    rows: list[Row] = [(*head, "and second not worse: false claim")]
    for name, first, guard in (
        ("first equal, second better", 0.0, 0.5),
        ("first better, second worse by exactly the margin", 0.5, -claims.RULE.delta),
    ):
        for correlation in (0.0, 0.9):
            rates = claims.several_figures(correlation, first, guard, STUDIES)
            rows.append((name, f"{correlation:g}", *map(percent, rates)))
    return rows


def normal_score_levels() -> list[Row]:
    """The risk that is spent on equal configurations with normal noise, by t and by scores."""
    rows: list[Row] = [("blocks", "risk of the comparison", "t", "normal scores")]
    for blocks in ((5, 10), (5, 30), (20, 30)):
        for risk in (0.05, 0.05 / 6):
            rates = claims.ever_wrong(blocks, risk, LEVEL_STUDIES)
            rows.append((f"{list(blocks)}", percent(risk), *map(percent, rates)))
    return rows


def studies_between_days() -> list[Row]:
    """False claims about two equal studies on two days."""
    rows: list[Row] = [("deviation of a day", "raw figures", "differences from the baseline")]
    for deviation in (0.0, 0.02, 0.05):
        rates = claims.between_days(deviation, STUDIES)
        rows.append((f"{100 * deviation:.0f} %", *map(percent, rates)))
    return rows


TABLES = (
    studies_between_days,
    corrected_claims,
    rare_slow_runs,
    one_sided_words,
    several_figures,
    normal_score_levels,
)
