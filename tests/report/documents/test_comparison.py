"""Two studies compared: what is compared, what is refused, what differs."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from iostudy.analysis.verdict import Verdict
from iostudy.errors import UsageError
from iostudy.report.documents.comparison import (
    FIGURES_NOTE,
    ONE_STUDY_NOTE,
    ConfigurationComparison,
    EffectDifference,
    StudyComparison,
    build_comparison,
    build_comparison_document,
)
from iostudy.report.render import html, json_, markdown, terminal
from iostudy.results.recorded_study import RecordedStudy
from iostudy.study.combinations import NamedConfiguration
from iostudy.study.model import Study
from iostudy.study.parser import parse
from iostudy.study.requests import build_request
from iostudy.study.sections import TelemetrySection
from iostudy.workloads import catalog
from tests.json_schema import assert_conforms
from tests.report.factory import CIRCUMSTANCES, factor, rows, study, study_row

STUDY = study(factor("block.scheduler", "none", "bfq"), workloads=("file-writes",))


def recorded(
    place: str,
    of: Study = STUDY,
    *,
    faster: float = 0.0,
    gain: float = 0.0,
    blocks: int = 12,
    drift: float = 0.0,
) -> RecordedStudy:
    """A study with a day that is ``faster``, and bfq better than the baseline by ``gain``.

    The noise of each place is its own.
    """
    found = []
    for row in rows(of, blocks=blocks, effects={}):
        noise = 0.004 * ((hash_of(place) * row.id * 7919) % 101 / 50 - 1)
        value = 400 * (1 + faster) * (1 + noise) * (1 + drift * row.block)
        value *= 1 + gain * (row.configuration == "bfq")
        found.append(replace(row, figures={**(row.figures or {}), "bandwidth": value}))
    return RecordedStudy(place, of, study_row(of), tuple(found))


def hash_of(place: str) -> int:
    return 1 + sum(place.encode())


def only(comparison: StudyComparison, label: str) -> ConfigurationComparison:
    (found,) = (each for each in comparison.compared if each.first.configuration == label)
    return found


def effect_of(comparison: StudyComparison, label: str = "bfq") -> EffectDifference:
    effect = only(comparison, label).effect
    assert effect is not None
    return effect


def texts(comparison: StudyComparison) -> dict[str, str]:
    document, file = build_comparison_document(comparison), io.StringIO()
    Console(file=file, width=250).print(terminal.render_document(document))
    return {"terminal": file.getvalue(), "markdown": markdown.render_document(document)}


def test_a_larger_effect_is_better() -> None:
    comparison = build_comparison(recorded("a", gain=0.1), recorded("b", gain=0.32))
    effect = effect_of(comparison)
    assert (effect.verdict, effect.by_margin) == (Verdict.BETTER, True)
    assert effect.first.change == pytest.approx(0.1, abs=0.01)
    assert effect.second.change == pytest.approx(0.32, abs=0.01)
    assert effect.change == pytest.approx(0.2, abs=0.01)
    assert effect.interval is not None
    assert effect.interval.low < 0.2 < effect.interval.high
    assert (effect.first.blocks, effect.second.blocks) == (12, 12)


def test_a_faster_day_changes_figures_and_no_verdict() -> None:
    comparison = build_comparison(recorded("a"), recorded("b", faster=0.2, drift=0.01))
    base = only(comparison, "none")
    assert base.change is not None
    assert base.change > 0.2
    assert base.interval is not None
    assert (base.effect, base.no_effect) == (None, "none is the baseline of the effects")
    assert effect_of(comparison).verdict is Verdict.EQUIVALENT
    for text in texts(comparison).values():
        words = " ".join(text.split())
        assert "equivalent" in words
        assert FIGURES_NOTE in words
        assert ONE_STUDY_NOTE not in words
        assert "12 and 12" in words


def test_lower_figures_are_better() -> None:
    own = build_request(
        "io",
        catalog.get("io").options(operation="write", files=2, size="256MiB"),
        "file-writes",
        "exec_time",
    )
    of = replace(STUDY, workloads=(own,))
    first, second = recorded("a", of), recorded("b", of)
    slower = [
        replace(row, figures={"exec_time": 2.0 if row.configuration == "bfq" else 1.0})
        for row in second.rows
    ]
    effect = effect_of(build_comparison(first, replace(second, rows=tuple(slower))))
    assert effect.verdict is Verdict.WORSE
    assert effect.second.change == pytest.approx(1.0)


def test_one_order_decides_nothing() -> None:
    first, second = recorded("a"), recorded("b", gain=0.3)
    same = [replace(row, position=1 + (row.configuration == "bfq")) for row in second.rows]
    found = effect_of(build_comparison(first, replace(second, rows=tuple(same))))
    assert found.verdict is Verdict.INCONCLUSIVE


def test_a_failed_run_decides_nothing() -> None:
    first, second = recorded("a"), recorded("b")
    number = next(n for n, row in enumerate(second.rows) if row.configuration == "bfq")
    failed = list(second.rows)
    failed[number] = replace(failed[number], figures={})
    found = effect_of(build_comparison(first, replace(second, rows=tuple(failed))))
    assert (found.change, found.interval, found.verdict) == (None, None, Verdict.INCONCLUSIVE)


def test_a_study_with_one_configuration_has_no_effect() -> None:
    alone = study(factor("block.scheduler", "none"), workloads=("file-writes",))
    comparison = build_comparison(recorded("a", alone), recorded("b", alone, faster=0.5))
    (found,) = comparison.compared
    assert (found.effect, found.no_effect.partition(":")[0]) == (None, "a and b")
    assert found.interval is not None
    for text in texts(comparison).values():
        words = " ".join(text.split())
        assert "No verdict is given: a and b: a study with a single configuration" in words
        assert ONE_STUDY_NOTE in words


def test_a_mapping_of_labels() -> None:
    comparison = build_comparison(recorded("a"), recorded("b"), ["none=bfq", "bfq"])
    pairs = [(each.first.configuration, each.second.configuration) for each in comparison.compared]
    assert pairs == [("none", "bfq"), ("bfq", "bfq")]
    assert "none / bfq" in texts(comparison)["markdown"]


def test_a_label_with_an_equals_sign() -> None:
    both = (factor("block.scheduler", "none", "bfq"), factor("block.nomerges", "0", "2"))
    of = study(*both, workloads=("file-writes",))
    label = of.configurations()[1].label
    assert "=" in label
    comparison = build_comparison(
        recorded("a", of), recorded("b"), [f"{label}=bfq", f"{label}=none"]
    )
    assert [each.second.configuration for each in comparison.compared] == ["bfq", "none"]


def test_a_label_of_neither_names_those_there_are() -> None:
    with pytest.raises(UsageError, match="kyber") as error:
        build_comparison(recorded("a"), recorded("b"), ["kyber"])
    assert "none, bfq" in error.value.remedy


def test_baselines_are_compared_whatever_they_are_called() -> None:
    chosen = (
        NamedConfiguration("before", {}),
        NamedConfiguration("after", {"block.scheduler": "bfq"}),
    )
    comparison = build_comparison(recorded("a"), recorded("b", replace(STUDY, chosen=chosen)))
    pairs = [(each.first.configuration, each.second.configuration) for each in comparison.compared]
    assert pairs == [("none", "before")]
    assert comparison.compared[0].no_effect == "the baselines differ: none in a, before in b"
    assert comparison.left_out == (
        "only the first study has the configuration bfq",
        "only the second study has the configuration after",
    )


def test_equal_levels_of_other_options_have_no_common_effect() -> None:
    jobs, depth, both = (
        study(*(factor(f"workload.{name}", "1", "4") for name in names), workloads=["file-writes"])
        for names in (["jobs"], ["depth"], ["depth", "jobs"])
    )
    (base, four) = build_comparison(recorded("a", jobs), recorded("b", depth)).compared
    for each in (base, four):
        assert (each.effect, each.no_effect) == (None, "the options differ: jobs in a, depth in b")
    comparison = build_comparison(recorded("a", both), recorded("b", both))
    assert only(comparison, "depth=4, jobs=4").effect is not None


def asks(**options: object) -> Study:
    given = {"operation": "write", "files": 2, "size": "256MiB"} | options
    own = build_request("io", catalog.get("io").options(**given), "file-writes")
    return replace(STUDY, workloads=(own,))


def test_another_workload_is_refused_and_the_reason_is_named() -> None:
    with pytest.raises(UsageError) as error:
        build_comparison(recorded("a"), recorded("b", asks(files=4)))
    assert "files is 2 in the first study and 4 in the second" in error.value.found
    assert error.value.where == "a and b"


def test_a_traced_study_is_compared_with_traced_ones_alone() -> None:
    traced = replace(STUDY, telemetry=TelemetrySection(block_latency=True))
    build_comparison(recorded("a", traced), recorded("b", traced))
    with pytest.raises(UsageError, match="traced") as error:
        build_comparison(recorded("a"), recorded("b", traced))
    assert error.value.where == "b"


def test_another_figure_is_refused() -> None:
    own = catalog.get("io")
    options = own.options(operation="write", files=2, size="256MiB")
    other = build_request("io", options, "file-writes", "exec_time")
    with pytest.raises(UsageError, match="bandwidth in MiB/s"):
        build_comparison(recorded("a"), recorded("b", replace(STUDY, workloads=(other,))))


def test_a_workload_of_one_alone_is_left_out() -> None:
    two = study(factor("block.scheduler", "none", "bfq"))
    comparison = build_comparison(recorded("a", two), recorded("b"))
    assert {each.workload for each in comparison.compared} == {"file-writes"}
    assert comparison.left_out == ("only the first study has the workload file-reads",)
    assert "Not compared" in texts(comparison)["markdown"]


SEARCHED = """\
question: Which?
target: .
search:
  parameters: {block.read_ahead_kb: {from: 128, to: 4096}}
  budget: 60 trials
workloads: [{io: {label: file-writes, operation: write, files: 2, size: 256MiB}}]
"""
SCREENED = """\
question: Which matter?
target: .
factors: {workload.direct: [false, true], workload.record_size: [1MiB, 64KiB]}
design: full
workloads: [{io: {label: file-writes, operation: write, files: 2, size: 256MiB}}]
"""


@pytest.mark.parametrize(("text", "what"), [(SEARCHED, "a search"), (SCREENED, "a screening")])
@pytest.mark.all_plugins
def test_search_is_refused(text: str, what: str) -> None:
    own = parse(text, where="study.yaml", name="study")
    with pytest.raises(UsageError) as error:
        build_comparison(recorded("a"), RecordedStudy("b", own, study_row(own), ()))
    assert (error.value.found, error.value.where) == (what, "b")


def test_unfinished_study_is_marked() -> None:
    of = replace(STUDY, decide=replace(STUDY.decide, margin=0.0001))
    comparison = build_comparison(recorded("a", of, blocks=3), recorded("b"))
    assert (comparison.first.finished, comparison.second.finished) == (False, True)
    assert effect_of(comparison).verdict is Verdict.INCONCLUSIVE
    assert "It is not finished" in texts(comparison)["markdown"]


def test_the_stricter_rule_and_every_difference() -> None:
    other = replace(STUDY, decide=replace(STUDY.decide, margin=0.01), text="question: x\n")
    second = recorded("b", other)
    host = {**CIRCUMSTANCES, "host": {**CIRCUMSTANCES["host"], "kernel": "6.12"}}  # type: ignore[dict-item]
    second = replace(second, row=replace(second.row, circumstances=host, seed=8))
    comparison = build_comparison(recorded("a"), second)
    assert comparison.margin == 0.01
    names = [each.name for each in comparison.differences]
    assert names == ["host kernel", "seed", "decide margin"]
    assert comparison.study_difference.splitlines()[:2] == ["--- a", "+++ b"]
    assert "```diff" in texts(comparison)["markdown"]
    page = html.render_page("comparison", build_comparison_document(comparison))
    assert "<pre>--- a\n+++ b" in page


def test_settings_that_were_read_back_otherwise() -> None:
    first, second = recorded("a"), recorded("b")
    moved = [replace(row, settings={"block.scheduler@loop7": "none"}) for row in second.rows]
    comparison = build_comparison(first, replace(second, rows=tuple(moved)))
    (found,) = comparison.differences
    assert found.name == "actual settings bfq block.scheduler"
    assert (found.first, found.second) == ("bfq", "none")


def test_hostile_strings_are_text() -> None:
    hostile = "a|b\n# <script>`*"
    second = recorded("b")
    host = {**CIRCUMSTANCES, "host": {"name": hostile}}
    comparison = build_comparison(
        recorded(hostile), replace(second, row=replace(second.row, circumstances=host))
    )
    text = markdown.render_document(build_comparison_document(comparison)).partition("```diff")[0]
    assert "<script>" not in text
    assert "\n# <" not in text
    assert r"a\|b" in text


def test_json_conforms_to_its_schema() -> None:
    comparison = build_comparison(recorded("a"), recorded("b"))
    document = json.loads(json_.render(comparison))
    assert document["schema"] == "iostudy.comparison/3"
    assert_conforms(document, json_.build_schema(StudyComparison))
