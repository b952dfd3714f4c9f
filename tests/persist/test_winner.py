from __future__ import annotations

import re
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from iostudy.cli.main import app
from iostudy.errors import LedgerError, UsageError
from iostudy.ledger.store import Ledger
from iostudy.persist import winner
from iostudy.persist.formats import Format, plan
from iostudy.results.comparisons import compare_configurations, rank_configurations
from iostudy.study.combinations import Level
from iostudy.study.parser import parse
from tests.report import factory
from tests.results import test_windows_rule

TEXT = """\
question: Which?
target: .
factors: {block.scheduler: [none, mq-deadline, kyber, bfq]}
workloads:
  - io: {label: file-writes, operation: write, files: 2, size: 256MiB}
  - io: {label: file-reads, files: 2, size: 256MiB}
decide: {margin: 3%, risk: 5%, blocks: [5, 20]}
"""


def best(effects, blocks=20):
    study = factory.study()
    return winner.find_winner(
        study, compare_configurations(study, factory.rows(study, effects=effects, blocks=blocks))
    ).label


def test_the_best_by_mean_log_ratio_wins():
    effects = {
        ("file-writes", "bfq"): 0.20,
        ("file-writes", "kyber"): 0.15,
        ("file-reads", "kyber"): 0.15,
    }
    assert best(effects) == "kyber"


def test_a_bound_is_no_winner():
    effects = {("file-writes", "bfq"): 0.20, ("file-writes", "kyber"): 0.15}
    study = replace(factory.study(), bounds=("bfq",))
    found = compare_configurations(study, factory.rows(study, effects=effects, blocks=20))
    assert winner.find_winner(study, found).label == "kyber"


def test_workloads_count_with_the_weights_of_the_study():
    effects = {("file-writes", "bfq"): 0.30, ("file-reads", "kyber"): 0.15}
    assert best(effects) == "bfq"
    study = factory.study()
    decide = replace(study.decide, weights={"file-reads": 3.0})
    weighted = replace(study, decide=decide)
    rows = factory.rows(weighted, effects=effects, blocks=20)
    assert winner.find_winner(weighted, compare_configurations(weighted, rows)).label == "kyber"


def test_equivalent_and_better_configurations_are_noted():
    study = factory.study()

    def notes(label, effects):
        rows = factory.rows(study, effects=effects, blocks=20)
        return tuple(
            winner._note_other_best(
                study, winner.find_configuration(study, label), rank_configurations(study, rows)
            )
        )

    both = {("file-writes", "kyber"): 0.2, ("file-reads", "kyber"): 0.2}
    assert notes("kyber", both) == ()
    equal = {("file-writes", "kyber"): 0.2, ("file-reads", "bfq"): 0.2}
    (note,) = notes("kyber", equal)
    assert note == "may be as good as kyber over all workloads together: bfq"
    ahead = {("file-writes", "bfq"): 0.9, ("file-reads", "bfq"): -0.1, **both}
    (note,) = notes("kyber", ahead)
    assert note.startswith("the best over all workloads together: bfq; not kept")
    assert tuple(winner._note_other_best(study, study.baseline, None)) == ()


def test_worse_in_one_workload_is_no_winner():
    effects = {
        ("file-writes", "bfq"): 0.5,
        ("file-reads", "bfq"): -0.2,
        ("file-writes", "kyber"): 0.1,
    }
    assert best(effects) == "kyber"


def test_without_a_winner_nothing_is_chosen():
    with pytest.raises(UsageError, match="none was shown to") as refused:
        best({("file-writes", "bfq"): -0.5})
    assert "--configuration" in refused.value.remedy


def test_an_open_comparison_may_still_change_the_winner():
    with pytest.raises(UsageError, match="another block may still decide"):
        best({("file-writes", "bfq"): 0.5}, blocks=4)


@pytest.fixture
def folder(tmp_path):
    """The ledger of a study that kyber won, on loop0 and a disk that is known."""
    study = factory.study(text=TEXT)
    disk = {"name": "sda", "wwid": "naa.5", "serial": "", "model": "M", "holders": [], "queue": {}}
    row = replace(
        factory.study_row(study), circumstances={"host": {"block_devices": {"sda": disk}}}
    )
    ledger = Ledger.create(tmp_path, row)
    try:
        for trial in factory.rows(study, blocks=20, effects={("file-writes", "kyber"): 0.1}):
            value = trial.configuration
            settings = {"block.scheduler@loop0": value, "block.scheduler@sda": value}
            number = ledger.begin(trial)
            ledger.finish(replace(trial, id=number, settings=settings))
            if trial.position == 4:
                ledger.complete(trial.workload, trial.block, trial.attempt)
    finally:
        ledger.close()
    return tmp_path


def test_the_settings_of_the_winner_where_they_were_studied(folder):
    choice = winner.select_settings(folder, None, ())
    assert choice.origin == "configuration kyber of the study schedulers"
    assert [setting.text for setting in choice.settings] == [
        "block.scheduler@loop0 = kyber",
        "block.scheduler@sda = kyber",
    ]
    loop, sda = (setting.disk for setting in choice.settings)
    assert (loop.wwid, sda.wwid, sda.model) == ("", "naa.5", "M")


def test_a_configuration_by_its_label(folder):
    assert winner.select_settings(folder, "bfq", ()).settings[0].value == "bfq"
    with pytest.raises(UsageError, match="give one of: none; mq-deadline; kyber; bfq"):
        winner.select_settings(folder, "cfq", ())


def test_the_provenance_states_verdict_study_and_host(folder):
    best, other = (
        winner.select_settings(folder, None, ()),
        winner.select_settings(folder, "bfq", ()),
    )
    assert (best.proven, other.proven) == (True, False)
    conclusion, write, read, study = best.provenance
    assert conclusion == (
        "Verdict: better than the baseline none on file-writes, not worse by 3 % on file-reads."
    )
    assert write.startswith("file-writes: better, ")
    assert re.search(r" \+\d+\.\d % \[\+.+, \+.+\], 20 blocks", write)
    assert read.startswith("file-reads: ")
    assert re.match(r"Study schedulers of \d{4}-\d\d-\d\d, host .+, kernel .+, iostudy .+", study)
    assert other.provenance[0].startswith("UNPROVEN: ")
    for form in (None, Format.ANSIBLE):
        for file in plan(other, form).artifacts:
            assert file.path.suffix == ".md" or "UNPROVEN" in file.after


@pytest.mark.parametrize("gain", [0.2, 0.0])
def test_windows_that_whole_trials_contradict_are_no_proof(gain):
    own = test_windows_rule.study("switchback")
    windows = compare_configurations(own, test_windows_rule.rows(noise=0.002, gain=0.2))
    trials = test_windows_rule.rows(noise=0.002, gain=gain)[:15]
    best, figures = winner.find_winner(own, windows).label, winner.collect_figures(own, trials)
    results = [result for result in windows if result.configuration == best]
    confirmed = [(result, winner.rule.confirm(own, result, figures)) for result in results]
    conclusion, verdict, *trial, _study = winner.describe_provenance(
        own,
        factory.study_row(own, {}),
        results,
        tuple(winner._describe_contradictions(confirmed)),
    )
    assert verdict.startswith("io: better, iops +22.")
    if gain:
        assert conclusion == "Verdict: better than the baseline none on io."
        assert not trial
    else:
        assert conclusion.startswith("UNPROVEN: whole trials contradict the windows.")
        (line,) = trial
        assert re.fullmatch(r"io in whole trials: iops [+-]0\.\d+ % \[.+\], 5 blocks\.", line)


def test_an_unproven_configuration_needs_consent_to_be_installed(folder, capsys):
    refused = CliRunner().invoke(
        app, ["persist", str(folder), "--configuration", "bfq", "--install"]
    )
    assert isinstance(refused.exception, UsageError)
    assert "no proof that it is better" in str(refused.exception)
    assert "--unproven" in refused.exception.remedy


def test_a_folder_of_files_keeps_those_of_others(folder):
    role = folder / "role"
    command = ["persist", str(folder), "--format", "ansible", "--out", str(role)]
    for _ in range(2):
        written = CliRunner().invoke(app, command)
        assert written.exception is None, written.exception
    theirs = "---\n- name: Ours\n# Written by `iostudy persist`: merged by hand.\n"
    (role / "tasks/main.yml").write_text(theirs)
    (role / "README.md").unlink()
    refused = CliRunner().invoke(app, command)
    assert isinstance(refused.exception, UsageError)
    assert "tasks/main.yml\n" in str(refused.exception)
    assert "not iostudy's" in refused.exception.found
    assert (role / "tasks/main.yml").read_text() == theirs
    assert not (role / "README.md").exists()
    (role / "README.md").write_text("# Our role\n")
    (role / "tasks/main.yml").unlink()
    assert isinstance(CliRunner().invoke(app, command).exception, UsageError)


def test_only_folders_of_studies(tmp_path):
    with pytest.raises(LedgerError):
        winner.select_settings(tmp_path, None, ())


def test_as_found_levels_are_not_kept():
    experiment = factory.study(factory.factor("block.scheduler", "none", "bfq"))
    as_found = replace(experiment.factors[0], levels=(Level("before", "as-found"),))
    study = replace(experiment, factors=(as_found,))
    with pytest.raises(UsageError, match="leaves all of them as they were"):
        winner._build_request(study, study.baseline, factory.study_row(study), (), ())


def test_options_of_workloads_are_named():
    study = factory.study(
        factory.factor("block.scheduler", "none"), factory.factor("workload.direct", "true")
    )
    choice = winner._build_request(study, study.baseline, factory.study_row(study), (), ())
    assert choice.notes == (
        "not kept: direct=true is an option of the workload: set it in your own programs",
    )
    assert choice.settings[0].disk is None


@pytest.mark.all_plugins
def test_a_screening_has_no_winner_to_keep(tmp_path):
    text = TEXT.replace(
        "factors: {block.scheduler: [none, mq-deadline, kyber, bfq]}",
        "factors: {block.scheduler: [none, bfq], block.nr_requests: [as-found, 64]}\ndesign: full",
    )
    study = parse(text, where="study.yaml", name="study")
    Ledger.create(tmp_path, replace(factory.study_row(study), text=text, root=True)).close()
    with pytest.raises(UsageError, match="a screening") as refused:
        winner.select_settings(tmp_path, None, ())
    assert "a study of their own" in str(refused.value)
    assert "--configuration LABEL" in str(refused.value)
