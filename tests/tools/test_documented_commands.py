"""Command lines and whole studies of the documentation are such as iostudy accepts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools.docs.command_line import list_commands

from iostudy.cli.commands import all_commands, load
from iostudy.study.source import read as read_yaml
from tests.cli.program import Program
from tests.study.files import read

pytestmark = pytest.mark.all_plugins
ROOT = Path(__file__).parents[2]
PAGES = [
    page
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))
    if page.parent.name != "decisions"
]
CODE = re.compile(r"^```(\w*)\n(.*?)^```$|((?:^ {4}[^\n]*\n)+)", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"^ *(?:\$ )?iostudy (?=[a-z])(.*)$", re.MULTILINE)
END = re.compile(r"^(\||<\(|[12]?>{1,2}|&&|;)")
COMMANDS = {command.name: command for command in all_commands()}
CHOICES = {
    command.name: {own.name: own.choices for own in command.parameters if own.choices}
    for command in list_commands()
}


def command_lines(page: Path) -> Iterator[str]:
    for language, fenced, indented in CODE.findall(page.read_text("utf-8")):
        block = indented or (fenced if language in ("", "sh") else "")
        yield from LINE.findall(block.replace("\\\n", " "))


def whole_studies(page: Path) -> list[str]:
    blocks = CODE.findall(page.read_text("utf-8"))
    examples = [fenced for language, fenced, _ in blocks if language == "yaml"]
    return [each for each in examples if re.search(r"^question:", each, re.MULTILINE)]


def arguments(line: str) -> list[str]:
    words = shlex.split(line, comments=True)
    ends = (place for place, word in enumerate(words) if END.match(word))
    return words[: next(ends, len(words))]


def test_a_command_line_has_options_that_exist() -> None:
    lines = [line for page in PAGES for line in command_lines(page)]
    assert lines
    for line in lines:
        name, *words = arguments(line)
        command = load(COMMANDS[name])
        if groups := getattr(command, "commands", None):
            name = f"{name} {words[0]}"
            command = groups[words.pop(0)]
        context = command.make_context(name, [], resilient_parsing=True)
        context.resilient_parsing = False
        values, rest, _ = command.make_parser(context).parse_args(args=words)
        assert rest == [] or "--" in line, line
        for option, choices in CHOICES[name].items():
            given = values.get(option) or ()
            assert set([given] if isinstance(given, str) else given) <= set(choices), line


def test_a_whole_study_can_be_run() -> None:
    examples = [example for page in PAGES for example in whole_studies(page)]
    assert examples
    for example in examples:
        study = read(example)
        assert study.awaiting_offer() or study.configurations()


FILES = {"old": "#!/bin/sh", "new": "#!/bin/sh", "bench.sh": "#!/bin/sh", "job.fio": "[job]"}


@pytest.mark.process
@pytest.mark.parametrize(
    "line",
    sorted({line for page in PAGES for line in command_lines(page) if line.startswith("try ")}),
)
def test_a_line_of_try_makes_a_study(program: Program, line: str) -> None:
    for name, text in FILES.items():
        (program.folder / name).write_text(text)
        (program.folder / name).chmod(0o755)
    made = program("try", "--print", *arguments(line)[1:])
    assert made.returncode == 0, made.stderr
    assert read_yaml(made.stdout, line).values["decide"]


def test_the_map_of_the_program_names_files_that_exist():
    """Of the page that says where to change what."""
    text = (ROOT / "docs/how-it-works.md").read_text("utf-8")
    paths = re.findall(r"`((?:[\w.-]+/)+(?:[\w.-]+\.\w+)?)`", text)
    assert len(paths) > 20
    folders = (ROOT, ROOT / "python/iostudy")
    assert not [path for path in paths if not any((folder / path).exists() for folder in folders)]
