"""``iostudy simulate``: predict the result of a study on a simulated drive."""

from __future__ import annotations

from iostudy.cli.answer_output import Full, Markdown, choose_form
from iostudy.cli.arguments import Json, Resume, Seed, StudyName, StudyOut, UnsafeFolders
from iostudy.cli.consent import Consent
from iostudy.cli.output_folder import (
    find_output_folder,
    load_study,
    print_resume_hint_on_signal,
    refuse_seed,
)
from iostudy.errors import UsageError


def simulate(
    study: StudyName,
    out: StudyOut = None,
    resume: Resume = False,
    seed: Seed = None,
    full: Full = False,
    markdown: Markdown = False,
    json: Json = False,
    unsafe_folders: UnsafeFolders = False,
) -> None:
    """Predict the result of a study on a simulated drive.

    The study has target: {drive: {model: ..., size: ..., simulated: true}}. Nothing of this host is
    changed or measured, and no root is needed. The output folder gets report and ledger.
    """
    from iostudy.cli.run_json import print_run
    from iostudy.cli.study_runner import find_completed, print_existing_report, run_study
    from iostudy.execution.session import prepare_session
    from iostudy.folders import make_output_folder
    from iostudy.node.conditions import Permission

    form = choose_form(full=full, markdown=markdown, json=json)
    refuse_seed(seed, resume=resume)
    loaded = load_study(study).without_continuation()
    if not loaded.target.predicts:
        raise UsageError(
            "a study with a simulated target",
            found=loaded.describe_target(),
            where=loaded.name,
            remedy="add simulated: true to target: {drive: ...}, or measure it with `iostudy run`",
        )
    folder = find_output_folder(loaded.name, out, resume=resume, argument=study)
    make_output_folder(folder, insist=unsafe_folders)
    # Root or not makes no difference, so that another user can resume.
    session = prepare_session(loaded, folder, root=True, resume=resume)
    again = ["iostudy", "simulate", study, *Consent(unsafe_folders=unsafe_folders).resume_options()]
    with print_resume_hint_on_signal(again, folder):
        final = find_completed(session)
        if final is not None:
            print_existing_report(final, folder, form=form)
        else:
            permission = Permission(unsafe_folders=unsafe_folders)
            run_study(session, permission, seed=seed, form=form)
    if json:
        print_run(folder, 0)
