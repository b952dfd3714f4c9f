"""The JSON Schema of study files takes what the parser takes, and marks plain errors."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from iostudy.study import library
from iostudy.study.fields import CATALOG
from iostudy.study.source import plain, read
from iostudy.study.study_file import study_file_type
from tests.study.files import GOOD, ON_HADOOP, READS
from tests.study.test_documented import EXAMPLES, complete

ROOT = Path(__file__).parents[2]

SCHEMA = json.loads((ROOT / "python/iostudy/study/study.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def errors(text: str) -> list[str]:
    values = plain(read(text, "study.yaml").values)
    return [error.message for error in VALIDATOR.iter_errors(values)]


@pytest.mark.all_plugins
def test_every_key_has_a_description():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert tuple(SCHEMA["properties"]) == tuple(study_file_type().model_fields)
    assert all(each["description"] for each in SCHEMA["properties"].values())
    assert all(
        each["description"] for name, each in SCHEMA["$defs"].items() if name.startswith("factor.")
    )


SECTIONS = (
    *("Decision", "HadoopSection", "LoopbackTarget", "ScratchTarget", "SearchSection"),
    *("ScreeningDesign", "TargetSection", "TelemetrySection", "Validity", "WithoutRootSection"),
)


@pytest.mark.parametrize("section", SECTIONS)
def test_every_key_of_a_section_has_a_description(section):
    properties = SCHEMA["$defs"][section]["properties"]
    assert [key for key, each in properties.items() if not each.get("description")] == []


def test_every_reference_to_a_catalog_has_its_definition():
    text = json.dumps(SCHEMA)
    assert CATALOG not in text
    assert set(re.findall(r'"#/\$defs/([^"]+)"', text)) <= SCHEMA["$defs"].keys()


def test_every_option_of_every_workload_has_a_description():
    options = [each for name, each in SCHEMA["$defs"].items() if name.startswith("options.")]
    assert options
    assert all(field["description"] for each in options for field in each["properties"].values())


def test_every_ready_made_study_is_valid():
    for name in library.names():
        assert not errors(library.ready_file(name).read_text()), name


def test_every_example_of_the_page_is_valid():
    for example in EXAMPLES:
        assert not errors(complete(example)), example


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("target:", "tarket:"),
        ("Does the scheduler matter?", "''"),
        ("/data/scratch", "{loopback: {size: 1 gigabyte}}"),
        ("/data/scratch", "{loopback: {size: 1GiB, filesystem: ntfs}}"),
        ("block.scheduler", "block.sheduler"),
        ("bfq]", "bqf]"),
        ("[none, bfq]", "[]"),
        ("[none, bfq]", "{levels: [none], om: sdb}"),
        (f"- {READS}", "- iozne"),
        ("files: 2", "fils: 2"),
        ("files: 2", "files: 0"),
        ("files: 2", "files: true"),
        ("64MiB", "64 mebibytes"),
        ("3%", "3"),
        ("[5, 30]", "5"),
        ("decide:", "validity: {atempts: 3}\ndecide:"),
        ("decide:", "design: placket-burman\ndecide:"),
        ("decide:", "refused: stay\ndecide:"),
        ("decide:", "seed: -1\ndecide:"),
        ("decide:", "search: {parameters: {block.nr_requests: [4, 5]}, budget: 2h}\ndecide:"),
        ("decide:", "load: {jobs: [1, 2]}\ndecide:"),
        ("decide:", "telemetry: {hz: fast}\ndecide:"),
        ("decide:", "without_root: {factor: {workload.direct: [true, false]}}\ndecide:"),
    ],
)
def test_a_plain_error_is_marked(old, new):
    assert old in GOOD
    assert errors(GOOD.replace(old, new, 1))


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("[none, bfq]", "offered"),
        GOOD.replace("[none, bfq]", "{before: none, after: as-found}"),
        GOOD.replace("block.scheduler: [none, bfq]", "block.nomerges: [0, 2, as-found]"),
        GOOD.replace("block.scheduler: [none, bfq]", "sysctl.kernel.some_key: [1, as-found]"),
        GOOD.replace("block.scheduler: [none, bfq]", "workload.record_size: [1MiB, 65536]"),
        GOOD.replace(f"- {READS}", "- iozone:"),
        GOOD.replace(f"- {READS}", "- io: {label: 2, directories: 'target, /b', think: 0}"),
        GOOD.replace(f"- {READS}", "- io: {label: b, directories: [target, /b], think: 3ms}"),
        ON_HADOOP.replace("hadoop.some-job", "hadoop.nnbench")
        + "hadoop: {datanodes: 2, data_dirs: /d, properties: {io.file.buffer.size: 64KiB}}\n",
    ],
)
def test_a_file_that_the_parser_accepts_is_valid(text):
    assert not errors(text)
