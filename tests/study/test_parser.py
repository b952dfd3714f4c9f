"""A study file is read whole, or refused with every error at its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from iostudy.errors import StudyError, UsageError
from iostudy.study import library
from iostudy.study.parser import load, parse
from iostudy.study.sections import Refusal, Validity
from iostudy.study.targets.section import DirectoryTarget, LoopbackTarget, ScratchTarget
from iostudy.telemetry.rate import DEFAULT_HZ
from iostudy.telemetry.summary import TRACING_COST_NOTE
from tests.study.files import GOOD, READS, WRITES, load_ready_made, only_problem, problems, read


def test_a_good_file_becomes_a_study():
    study = read(GOOD)
    assert [c.label for c in study.configurations()] == ["none", "bfq"]
    assert [w.label for w in study.workloads] == ["file-writes", "file-reads"]
    assert study.target == DirectoryTarget(Path("/data/scratch"))
    assert study.decide.margin == pytest.approx(0.03)
    assert study.comparisons == 2


def test_yaml_1_2_keeps_on_off_and_none_as_text():
    study = read(GOOD.replace("[none, bfq]", "{off: none, on: bfq}"))
    assert [c.label for c in study.configurations()] == ["off", "on"]
    assert study.baseline.settings == {"block.scheduler": "none"}


def test_one_value_under_two_labels_is_an_a_a_study():
    study = read(GOOD.replace("[none, bfq]", "{first: none, second: none}"))
    assert [c.settings["block.scheduler"] for c in study.configurations()] == ["none", "none"]


def test_a_baseline_can_be_named():
    study = read(GOOD + "baseline: bfq\n")
    assert [c.label for c in study.configurations()] == ["bfq", "none"]


def test_two_factors_make_every_combination():
    study = read(GOOD.replace("[none, bfq]", "[none, bfq]\n  workload.direct: [true, false]"))
    labels = [c.label for c in study.configurations()]
    assert labels[0] == "scheduler=none, direct=true"
    assert len(labels) == 4
    assert study.configurations()[0].options == {"direct": "true"}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("{loopback: {size: 2GiB}}", LoopbackTarget(2 << 30, "ext4")),
        ("{loopback: {size: 2GiB, filesystem: xfs}}", LoopbackTarget(2 << 30, "xfs")),
        (
            "{loopback: {size: 2GiB, beside: {b: xfs, a: ext4}}}",
            LoopbackTarget(2 << 30, "ext4", {"b": "xfs", "a": "ext4"}),
        ),
        ("{scratch: {device: /dev/sdz}}", ScratchTarget(Path("/dev/sdz"), "ext4")),
    ],
)
def test_targets(target, expected):
    assert read(GOOD.replace("/data/scratch", target)).target == expected


@pytest.mark.parametrize(
    ("disks", "words"),
    [("{a/b: ext4}", "'a/b' is no name of a disk"), ("{disk2: ext5}", "mean ext")],
)
def test_further_disks_have_names_and_file_systems(disks, words):
    target = f"{{loopback: {{size: 2GiB, beside: {disks}}}}}"
    assert words in str(only_problem("/data/scratch", target))


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        (
            "block.scheduler",
            "block.sheduler",
            4,
            ["unknown factor", "mean block.scheduler", "--read"],
        ),
        ("bfq]", "bqf]", 4, ["unknown level", "found bqf", "mq-deadline", "mean bfq"]),
        ("bfq]", "none]", 4, ["none occurs twice", "{first: none, second: none}"]),
        ("[none, bfq]", "[]", 4, ["empty"]),
        ("[none, bfq]", "none", 4, ["levels are a list"]),
        (f"  - {READS}", "  - iozne", 7, ["unknown workload", "mean iozone"]),
        (
            f"  - {READS}",
            "  - io: {label: file-writes, operation: write}",
            5,
            ["twice", "label"],
        ),
        ("files: 2", "files: 0", 6, ["1 or more", "found 0"]),
        ("files: 2", "fils: 2", 6, ["unknown key", "did you mean files"]),
        ("size: 64MiB", "size: 1 gigabyte", 6, ["not a size", "found 1 gigabyte", "256MiB"]),
        ("size: 64MiB", "size: 512KiB", 6, ["record_size is larger than size"]),
        ("margin: 3%", "margin: 0%", 8, ["margin", "more than 0% and less than 100%"]),
        ("margin: 3%", "margin: 300%", 8, ["margin", "found 300%", "less than 100%"]),
        ("margin: 3%", "margin: 3", 8, ["not a percentage", "such as 3%"]),
        ("[5, 30]", "[30, 5]", 8, ["blocks", "fewest <= most", "found [30, 5]"]),
        ("[5, 30]", "[5]", 8, ["blocks", "found [5]"]),
        ("[5, 30]", "[true, 30]", 8, ["blocks", "found [true, 30]"]),
        ("/data/scratch", "{loopback: {size: 1KiB}}", 2, ["too small", "16MiB"]),
        ("/data/scratch", "{loopback: {size: 2GiB, filesystem: ntfs}}", 2, ["file system", "xfs"]),
        ("/data/scratch", "{}", 2, ["give one of loopback"]),
        pytest.param(
            *("/data/scratch", "hdfs://nn/", 2, ["name a folder"]), marks=pytest.mark.all_plugins
        ),
        ("/data/scratch", "s3a://b/", 2, ["no target begins so", "a directory, {loopback: ...}"]),
        ("Does the scheduler matter?", "", 1, ["question"]),
    ],
)
def test_each_error_says_where_what_was_found_and_what_is_allowed(old, new, line, words):
    problem = only_problem(old, new)
    assert problem.line == line
    for word in words:
        assert word in str(problem)


def test_a_misspelt_key_is_reported_with_the_one_that_is_missing():
    missing, unknown = problems(GOOD.replace("target:", "tarket:"))
    assert "did you mean target" in str(unknown)
    assert "target: it is missing (Where to work: a directory" in str(missing)


def test_all_errors_are_reported_together_in_the_order_of_their_lines():
    text = GOOD.replace("bfq", "bqf").replace("files: 2", "files: x").replace("3%", "0%")
    found = problems(text.replace("question", "qestion"))
    assert [p.line for p in found] == sorted(p.line for p in found)
    assert len(found) == 5


def test_unaligned_direct_io_is_found_before_anything_runs():
    text = GOOD.replace(
        "block.scheduler: [none, bfq]",
        "workload.direct: [false, true]\n  workload.record_size: [1MiB, 1000]",
    )
    (problem,) = problems(text.replace(f"  - {READS}\n", ""))
    assert "multiples of 4096" in problem.message
    assert "direct=true, record_size=1000" in problem.message


def test_a_factor_that_no_workload_heeds_is_refused():
    factor = "workload.fsync: [true, false]"
    text = GOOD.replace("block.scheduler: [none, bfq]", factor)
    assert problems(text.replace(f"  - {WRITES}\n", ""))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", 1),
        ("a: [1, 2", 1),
        ("- a\n- b", 1),
        ("", 1),
        ("just words", 1),
        (GOOD + "question: again\n", 9),
        ("a: !!python/object:os.system {}", 1),
        ("a: &x [*x]", 1),
    ],
)
def test_an_invalid_study_is_refused_at_its_line(text, line):
    assert problems(text)[0].line >= line


@example("-_")
@given(st.text(max_size=200))
def test_any_text_is_a_study_or_a_study_error(text):
    try:
        parse(text, where="study.yaml", name="study")
    except StudyError as error:
        assert error.problems


SECTIONS = ("target", "factors", "workloads", "hadoop", "decide", "validity", "without_root")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
        max_leaves=8,
    )
)
def test_any_value_in_any_section_is_a_study_error_and_not_a_crash(value):
    import io

    from ruamel.yaml import YAML

    for key in (*SECTIONS, "seed"):
        out = io.StringIO()
        YAML(typ="safe", pure=True).dump({"question": "q", key: value}, out)
        with pytest.raises(StudyError):
            parse(out.getvalue(), where="study.yaml", name="study")


def test_without_root_the_study_varies_something_else_and_says_so():
    study = load_ready_made("quickstart").without_root()
    assert {f.name for f in study.factors} == {"workload.direct", "workload.record_size"}
    assert "not root" in study.notes[0]
    assert study.target == DirectoryTarget(None)


def test_settings_are_refused_in_the_section_for_those_without_root():
    text = GOOD + "without_root:\n  factors:\n    block.scheduler: [none]\n"
    (problem,) = problems(text)
    assert problem.line == 11
    assert "needs root" in problem.message


@pytest.mark.all_plugins
def test_every_ready_made_study_is_valid():
    assert library.names()
    for name in library.names():
        study = load_ready_made(name)
        assert study.question
        # Fewer blocks seldom decide.
        assert study.design is not None or study.decide.max_blocks >= 8


@pytest.mark.parametrize("name", ["quickstrt", "no/such/file.yaml"])
def test_a_study_that_is_not_there_names_the_ready_made_ones(name):
    with pytest.raises(UsageError, match="quickstart"):
        library.find_study(name)


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="UTF-8"):
        load(path)


def test_a_refused_configuration_stops_the_study_by_default():
    assert read(GOOD).refusal is Refusal.STOP
    assert read(GOOD + "refused: leave-out\n").refusal is Refusal.LEAVE_OUT
    problem = only_problem("question:", "refused: leave\nquestion:")
    assert (problem.path, problem.allowed) == ("refused", "stop, leave-out, strict")


def test_weights_are_those_of_the_workloads():
    weighted = GOOD.replace("blocks: [5, 30]", "blocks: [5, 30], weights: {file-reads: 2.5}")
    decide = read(weighted).decide
    assert [decide.weight(w) for w in ("file-writes", "file-reads")] == [1.0, 2.5]


@pytest.mark.parametrize(
    ("weights", "path", "message"),
    [
        ("{file-readss: 2}", "decide.weights.file-readss", "unknown workload of this study"),
        ("{file-reads: 0}", "decide.weights.file-reads", "out of range; allowed: more than 0"),
        ("{file-reads: .inf}", "decide.weights.file-reads", "finite"),
        ("{file-reads: heavy}", "decide.weights.file-reads", "number"),
        ("[2, 1]", "decide.weights", "mapping"),
    ],
)
def test_weights_that_are_none(weights, path, message):
    problem = only_problem("blocks: [5, 30]", f"blocks: [5, 30], weights: {weights}")
    assert problem.path == path
    assert message in problem.message
    assert problem.line == 8


def test_the_sampling_rate_is_ten_a_second_or_as_written():
    assert read(GOOD).telemetry.hz == DEFAULT_HZ
    assert read(GOOD + "telemetry: {hz: 2.5}\n").telemetry.hz == 2.5


def test_memory_is_warm_only_on_request():
    assert not read(GOOD).prepare.is_warm
    assert not read(GOOD + "prepare: {memory: as-found}\n").prepare.is_warm
    warm = read(GOOD + "prepare: {memory: warm}\n")
    assert warm.prepare.is_warm
    assert any("free memory is touched" in note for note in warm.notes)


@pytest.mark.parametrize("wrong", ["{memory: hot}", "{memory: true}", "warm", "{cpu: warm}"])
def test_another_preparation_is_refused(wrong):
    with pytest.raises(StudyError):
        read(GOOD + f"prepare: {wrong}\n")


@pytest.mark.parametrize("hz", ["0", "0.5", "101", "fast", "true", "[1]"])
def test_a_rate_that_cannot_be_is_refused_at_its_line(hz):
    text = GOOD + f"telemetry:\n  hz: {hz}\n"
    assert only_problem(GOOD, text).line == len(text.splitlines())


def test_requests_are_traced_where_the_study_says_so_and_it_says_what_that_costs():
    assert not read(GOOD).telemetry.block_latency
    assert read(GOOD).notes == ()
    study = read(GOOD + "telemetry: {block_latency: true}\n")
    assert study.telemetry.block_latency
    assert study.notes == (TRACING_COST_NOTE,)


@pytest.mark.parametrize("value", ["on", "1", '"true"'])
def test_tracing_of_requests_is_true_or_false(value):
    text = GOOD + f"telemetry:\n  block_latency: {value}\n"
    assert only_problem(GOOD, text).line == len(text.splitlines())


@pytest.mark.all_plugins
def test_requests_are_traced_neither_without_root_nor_in_hdfs():
    text = GOOD + "telemetry:\n  block_latency: true\n"
    also = "without_root: {factors: {workload.direct: [true, false]}}\n"
    assert "without_root" in only_problem(GOOD, text + also).message
    found = problems(text.replace("/data/scratch", "hdfs:///bench"))
    assert any("no disk of this machine" in problem.message for problem in found)


def test_limits_of_validity_are_fractions():
    text = GOOD + "validity: {foreign_cpu: 25%, gap: 10%}\n"
    limits = read(text).validity
    assert (limits.foreign_cpu, limits.gap) == (0.25, 0.1)
    assert read(GOOD).validity == Validity()


@pytest.mark.parametrize("limit", ["foreign_io", "steal", "foreign_cpu", "gap"])
def test_a_limit_of_all_that_there_is_excludes_nothing(limit):
    limits = read(GOOD + f"validity: {{{limit}: 100%}}\n").validity
    assert getattr(limits, limit) == 1.0


@pytest.mark.parametrize("limit", ["steal: 101%", "gap: 0%", "foreign_cpu: 200%"])
def test_a_limit_is_a_share_above_0(limit):
    with pytest.raises(StudyError) as caught:
        read(GOOD + f"validity: {{{limit}}}\n")
    assert "more than 0% and at most 100%" in str(caught.value)
