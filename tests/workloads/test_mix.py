"""Several workloads as one: each in its folder, each with its figures, all of them stopped."""

from __future__ import annotations

import math
import signal
import time

import pytest
from pydantic import ValidationError

from iostudy.errors import UsageError, WorkloadError, WorkloadStoppedError
from iostudy.workloads import catalog, mix
from iostudy.workloads.definition import Figure, WorkloadDefinition, fixed_figures
from iostudy.workloads.measurement import Measurement, Part
from iostudy.workloads.native.io import IO
from iostudy.workloads.option_types import Options
from iostudy.workloads.workload import Place, Workload
from tests.cli.program import Program, exists_below
from tests.page_cache import resident_pages
from tests.study.files import WRITES, only_problem

MIB = 1 << 20
READ = {"io": {"size": "8MiB"}}
WRITE = {"io": {"operation": "write", "size": "1MiB"}}


class StepOptions(Options):
    steps: int = 1
    reports_bytes: bool = False
    lacks: str = ""


class Steps(Workload):
    """Sleeps so many steps, and keeps a list of its calls."""

    def __init__(self, options):
        self.options = options
        self.calls = []

    def space_bytes(self):
        return 100

    def check(self):
        if self.options.lacks:
            raise UsageError("a tool", found="none", where="here", remedy=self.options.lacks)

    def prepare(self, place):
        (place.directory / "prepared").write_text(str(place.seed))

    def reset(self, place):
        self.calls.append("reset")

    def verified(self):
        self.calls.append("verified")

    def run(self, place):
        for step in range(self.options.steps):
            time.sleep(0.005)
            if not place.tick(step + 1):
                raise WorkloadStoppedError("", where="")
        figures = {"steps": float(self.options.steps)}
        if self.options.reports_bytes:
            figures["bytes"] = 10.0
        part = Part({"step": "1"}, {"length": 5.0})
        shown = {"step": ((5.0, 1),)}
        return Measurement(figures, shown, (part,), ("slept",), verify=self.verified)

    def clean(self, place):
        (place.directory / "prepared").unlink(missing_ok=True)


def defined(name, **more):
    return WorkloadDefinition(
        name=name,
        models="sleep",
        not_modelled="work",
        source="none",
        options=StepOptions,
        figures=fixed_figures(Figure("steps", "steps", "how many", True)),
        part_figures=fixed_figures(Figure("length", "ms", "how long", False)),
        example={},
        make=Steps,
        **more,
    )


KNOWN = {each.name: each for each in (IO, defined("steps"), defined("moving", ticks_bytes=True))}
DEFINITION = mix.definition(KNOWN)


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path, seed=7)


def options(others="repeat", **workloads):
    return DEFINITION.options.model_validate({"workloads": workloads, "others": others})


def make(others="repeat", **workloads):
    return DEFINITION.make(options(others, **workloads))


def run(mixed, place):
    mixed.prepare(place)
    mixed.reset(place)
    try:
        return mixed.run(place)
    finally:
        mixed.clean(place)
        assert list(place.directory.iterdir()) == []


def test_members_are_distinguished_and_verified(place):
    requested = {"front": READ, "side": WRITE}
    measured = run(make("once", **requested), place)
    figures = DEFINITION.figures(options("once", **requested))
    assert set(measured.figures) == {figure.name for figure in figures}
    assert figures[0].name == "front.bandwidth"
    assert measured.figures["front.bytes"] == 8 * MIB
    assert measured.figures["bytes"] == 9 * MIB
    assert 0 <= measured.figures["overlap"] <= 100
    assert set(measured.latencies) == {"front.read", "side.write"}
    assert all(math.isfinite(value) for value in measured.figures.values())


def test_figures_and_parts_are_declared_with_their_units():
    requested = options(front={"steps": {"steps": 4}}, side="moving")
    units = {figure.name: figure.unit for figure in DEFINITION.figures(requested)}
    expected = {"front.steps": "steps", "side.steps": "steps", "side.rounds": "rounds"}
    assert units == expected | {"overlap": "%", "bytes": "B"}
    parts = [figure.name for figure in DEFINITION.part_figures(requested)]
    assert parts == ["front.length", "side.length"]
    assert "mean" in DEFINITION.figure("side.steps", requested).documentation
    assert "mean" not in DEFINITION.figure("front.steps", requested).documentation


def test_the_others_begin_again_and_only_whole_rounds_count(place):
    measured = run(make(front={"steps": {"steps": 200}}, side={"steps": {"steps": 3}}), place)
    assert measured.figures["front.steps"] == 200
    assert measured.figures["side.steps"] == 3
    assert measured.figures["side.rounds"] > 1
    assert measured.figures["overlap"] > 50
    ((_, count),) = measured.latencies["side.step"]
    assert count == measured.figures["side.rounds"]
    assert [part.labels["workload"] for part in measured.parts] == ["front", "side"]
    assert "side: slept" in measured.notes


def test_each_round_is_verified_before_the_next_one_undoes_it(place):
    mixed = make(front={"steps": {"steps": 200}}, side={"steps": {"steps": 3}})
    measured = run(mixed, place)
    own = mixed.members[1].workload.calls
    assert own[0] == "reset"
    assert own.count("verified") >= measured.figures["side.rounds"]
    whole = own[1:]
    assert whole[::2] == ["verified"] * len(whole[::2])
    assert whole[1::2] == ["reset"] * len(whole[1::2])


def test_without_a_whole_round_there_are_no_figures_but_a_note(place):
    measured = run(make(front={"steps": {"steps": 4}}, side={"steps": {"steps": 9999}}), place)
    assert "side.steps" not in measured.figures
    assert measured.figures["side.rounds"] == 0
    assert any("side: no round of it came to its end" in note for note in measured.notes)


def test_bytes_of_a_cut_off_round_count_if_reported(place):
    front = {"moving": {"steps": 10, "reports_bytes": True}}
    measured = run(make(front=front, side={"moving": {"steps": 9999}}), place)
    assert 10 < measured.figures["bytes"] < 10 + 9999


def test_bytes_are_omitted_if_one_member_does_not_report_them(place):
    front = {"moving": {"steps": 10, "reports_bytes": True}}
    measured = run(make(front=front, side={"steps": {"steps": 9999}}), place)
    assert "bytes" not in measured.figures
    assert "foreign I/O is not judged: what side moved in all is not known" in measured.notes


def test_each_member_has_a_folder_and_a_seed_of_its_own(place):
    mixed = make(front="steps", side="steps")
    mixed.prepare(place)
    seeds = {path.name: (path / "prepared").read_text() for path in place.directory.iterdir()}
    assert set(seeds) == {"front", "side"}
    assert len({*seeds.values(), "7"}) == 3
    assert all(0 <= int(seed) < 2**63 for seed in seeds.values())


def test_a_mix_needs_the_space_of_all_members_and_the_programs_of_each():
    assert make(front=READ, side=WRITE).space_bytes() == 9 * MIB
    assert make(front=WRITE, side=READ).reads()
    assert not make(front=WRITE, side=WRITE).reads()
    with pytest.raises(UsageError, match="install it"):
        make(front="steps", side={"steps": {"lacks": "install it"}}).check()
    keys = {make(front=READ, side=WRITE).preparation(), make(front=WRITE, side=READ).preparation()}
    assert len(keys) == 2


def test_a_reader_that_begins_again_does_not_find_its_files_in_the_page_cache(disk_folder):
    place = Place(disk_folder, seed=7)
    mixed = make(front="steps", side=READ)
    mixed.prepare(place)
    (path,) = place.directory.glob("side/*/job-*")
    path.read_bytes()
    mixed.members[1].renew(place)
    assert resident_pages(path) == 0


def test_a_member_that_fails_fails_the_mix_with_its_own_error(place):
    mixed = make(front={"steps": {"steps": 9999}}, side=READ)
    mixed.prepare(place)
    (path,) = place.directory.glob("side/*/job-*")
    with path.open("r+b") as file:
        file.truncate(4 * MIB)
    with pytest.raises(WorkloadError, match=r"side/.*job-0000-file-00000 ends at byte 4194304"):
        mixed.run(place)


def test_vanished_folder_is_an_error_and_cleaning_continues(place):
    mixed = make(front={"steps": {"steps": 9999}}, side=WRITE)
    mixed.prepare(place)
    (place.directory / "side").rmdir()
    with pytest.raises(WorkloadError, match="No such file"):
        mixed.run(place)
    mixed.clean(place)
    assert list(place.directory.iterdir()) == []


def test_a_tick_that_says_no_stops_all(place):
    stopped = Place(place.directory, place.seed, lambda _: False)
    mixed = make(front={"steps": {"steps": 9999}}, side=WRITE)
    mixed.prepare(place)
    mixed.reset(place)
    with pytest.raises(WorkloadStoppedError):
        mixed.run(stopped)


@pytest.mark.child
def test_a_signal_stops_all_and_nothing_is_left(tmp_path):
    program = Program(tmp_path)
    write = "{io: {operation: write, size: SIZE}}"
    endless = f"{{a: {write}, b: {write}}}".replace("SIZE", "2GiB", 1).replace("SIZE", "1MiB")
    (tmp_path / "out").mkdir()
    arguments = ("bench", "mix", "--target", "out", "-o", f"workloads={endless}")
    process = program.start(*arguments)
    while process.poll() is None and not exists_below(tmp_path, "b/*/job-*"):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    "workloads",
    [
        {"one": READ},
        {"one": READ, "two": {}},
        {"one": READ, "two": {**READ, "steps": {}}},
        {"one": READ, "two": 3},
        {"one": READ, "two": {"mix": {}}},
        {"one": READ, "../two": READ},
        {"one": READ, "a" * 33: READ},
        {"one": READ, "": READ},
        "io",
        "{",
    ],
)
def test_an_invalid_mix_is_refused(workloads):
    with pytest.raises(ValidationError):
        DEFINITION.options.model_validate({"workloads": workloads})


@pytest.mark.parametrize(
    ("member", "path", "message", "suggestion"),
    [
        ("{io: {files: x}}", ".io.files", "write a whole number", ""),
        ("{io: {fils: 2}}", ".io.fils", "unknown key", "files"),
        ("{iozne: {}}", ".iozne", "unknown key", "iozone"),
        ("3", "", "a workload is its name, or {name: {option: value}}", ""),
    ],
)
def test_wrong_member_of_a_study_has_its_place_and_line(member, path, message, suggestion):
    mixed = f"{{workloads: {{front: io,\n      side: {member}}}}}"
    problem = only_problem(f"  - {WRITES}", f"  - mix: {mixed}")
    assert problem.path == f"workloads.0.mix.workloads.side{path}"
    assert (problem.message, problem.suggestion) == (message, suggestion)
    assert problem.line > 1


def test_invalid_label_has_a_plain_message():
    mixed = "{workloads: {front: io, ../x: io}}"
    problem = only_problem(f"  - {WRITES}", f"  - mix: {mixed}")
    assert problem.path == "workloads.0.mix.workloads.../x"
    assert problem.message.startswith("not a label; write")


def test_the_catalogue_has_a_mix_of_all_the_others_on_files():
    found = catalog.get("mix").options.model_json_schema()["$defs"]["MixMember"]["properties"]
    definitions = map(catalog.get, catalog.names())
    alone = [own for own in definitions if not (own.service or own.only_simulated)]
    on_files = {own.name for own in alone}
    assert set(found) == on_files - {"mix"}
