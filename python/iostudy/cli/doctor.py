"""``iostudy doctor``: print the storage stack, its faults and their remedies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, assert_never

import typer

from iostudy.cli import doctor_json
from iostudy.cli.arguments import Json
from iostudy.cli.console import print_command, print_json, print_line, print_table, print_tree
from iostudy.cli.get import read_settings
from iostudy.cli.setting_places import HERE
from iostudy.cli.stack_tree import build_trees
from iostudy.host.advice.facts import Facts
from iostudy.host.advice.finding import Certainty, DoctorFinding
from iostudy.host.advice.gather import gather_facts
from iostudy.host.advice.registry import evaluate_rules
from iostudy.host.inventory import collect_inventory
from iostudy.settings import catalog
from iostudy.study.declared_settings import declare_files


def doctor(
    place: Annotated[
        str | None,
        typer.Argument(
            metavar="[PATH|DEVICE]",
            help="Print only this place and the devices below and above it.",
            show_default="all",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show the storage stack, its faults and their remedies.

    Each fault has its reason, its certainty and a command. Nothing is changed.
    """
    facts = gather_facts(place)
    findings = evaluate_rules(facts)
    if json:
        places = [Path(place)] if place and Path(place).is_dir() else []
        print_json(doctor_json.build_document(facts, findings, collect_inventory(places)))
        return
    print_tree(build_trees(facts.topology))
    for certainty in Certainty:
        _print_group(certainty, [f for f in findings if f.certainty is certainty])
    _print_refused(facts)
    _print_declared()


def heading(certainty: Certainty) -> str:
    """Heading of the findings of a certainty."""
    match certainty:
        case Certainty.FACT:
            return "Facts: they follow from what the kernel or a manual says"
        case Certainty.RECOMMENDATION:
            return "Recommendations: common advice, which may not fit this host"
        case Certainty.MEASURE:
            return "To be measured: it depends on the workload, and a study can show it"
        case _:
            assert_never(certainty)


def _print_group(certainty: Certainty, findings: Sequence[DoctorFinding]) -> None:
    if not findings:
        return
    print_line()
    print_line(heading(certainty), style="bold")
    for _, same in groupby(findings, key=lambda finding: finding.id):
        _print_rule(list(same))


def _print_declared() -> None:
    """Print the settings that files of the host and the user declare, with their values."""
    names = declare_files()
    if not names:
        return
    found, refused = read_settings([catalog.get(name) for name in names], [HERE])
    print_line()
    print_line("Settings of settings.d", style="bold")
    print_table(("", ""), [(label, value) for label, (value, _) in found.items()])
    for error in refused:
        print_line(f"{error.wanted}: {error.found}")


def _print_rule(findings: Sequence[DoctorFinding]) -> None:
    """All that one rule has found: the places in a table, what it says of them once."""
    first = findings[0]
    print_line()
    print_line(f"{first.id}: {first.title}")
    print_table(("", "where", "found", "advised"), list(_places(findings)))
    print_table(("", "", ""), list(_explanation(findings)))
    for command in _commands(findings):
        print_command(command)


def _places(findings: Sequence[DoctorFinding]) -> Iterator[tuple[str, ...]]:
    for key, same in groupby(findings, key=lambda finding: (finding.found, finding.advised)):
        yield ("", ", ".join(finding.subject for finding in same), *key)


def _explanation(findings: Sequence[DoctorFinding]) -> Iterator[tuple[str, str, str]]:
    first = findings[0]
    settings = dict.fromkeys(finding.setting for finding in findings if finding.setting)
    if settings:
        yield "", "setting", ", ".join(settings)
    yield "", "why", first.why
    yield "", "source", first.source
    for evidence in dict.fromkeys(finding.evidence for finding in findings):
        yield "", "evidence", evidence


def _commands(findings: Sequence[DoctorFinding]) -> list[str]:
    """Each command once; of studies the first, which shows how the others are made."""
    commands = list(dict.fromkeys(finding.command for finding in findings))
    return commands[:1] if findings[0].certainty is Certainty.MEASURE else commands


def _print_refused(facts: Facts) -> None:
    if not facts.refused:
        return
    print_line()
    print_line("Not checked, since it could not be read", style="bold")
    for refusal in facts.refused:
        print_line(f"  {refusal}")
