"""Study file that a command line of ``iostudy try`` stands for."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iostudy.errors import UsageError
from iostudy.settings import catalog as settings
from iostudy.settings.definitions.declared import CommandDefinition
from iostudy.study.combinations import DIRECTORY_FACTOR
from iostudy.study.factors import OPTION_PREFIX
from iostudy.study.names import MAX_LENGTH
from iostudy.study.source import block_text, read, write
from iostudy.workloads.external import fio_job
from iostudy.workloads.external.command import COMMAND, CommandOptions
from iostudy.workloads.external.extract import AS_PRINTED, find_unit
from iostudy.workloads.external.fio import FIO

_WHERE = "the command line"
_SYSCTL = "sysctl."
_RUN, _JOB = f"{OPTION_PREFIX}run", f"{OPTION_PREFIX}job"
_JSON = "json:"
_NUMBER = (
    r"((?:(?<![-+])[-+])?(?:\d+\.?\d*|(?<!\.)\.\d+)(?:[eE][-+]?\d+)?)"
    r"(?![\d.,:]*\d|[A-Za-z]+\d| ?[kKMGTP]\b)"
)
"""A number with its sign; none of the beginning of 1,234, of 2:05, of 0m1.5s or of 12k."""
_LOWER = re.compile(
    r"(?i)(^|[_.-])(p\d+|lat\w*|\w*time|elapsed|duration|delay|seconds|[mun]?s)($|[_.-])"
)
_HIGHER = re.compile(
    r"(?i)(^|[_.-])(\w*iops|bandwidth|bw|\w*rate|throughput|ops|tps|qps|speed)($|[_.-])"
)
_PER_SECOND = re.compile(r"(?i)(per|[kmg]i?b|bytes|ops)[_.-]?(s|sec|seconds?)(?=$|[_.-])")
"""The end of a rate, of which the ``s`` alone would mean a time: ``requests_per_s``."""
_FAULTS = re.compile(r"(?i)err|miss|drop|fail|loss|retr|abort|fault|reject")
"""Of these a higher rate is not better."""


@dataclass(frozen=True)
class OneLine:
    """The command line of a study: two or more commands, or one command and what varies.

    ``varied`` and ``figures`` are texts such as ``NAME=a,b`` and ``NAME=regex``. ``read`` and
    ``write`` are the commands of a setting that iostudy does not know. ``directory`` is the working
    directory, from which relative paths start; ``on`` is a directory or a target as a study file
    has it.
    """

    directory: Path
    commands: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    varied: tuple[str, ...] = ()
    read: str | None = None
    write: str | None = None
    on: str | None = None
    figures: tuple[str, ...] = ()
    better: tuple[str, ...] = ()
    unit: tuple[str, ...] = ()
    margin: str = "5%"
    risk: str = "5%"
    warmup: int = 0
    prepare: str | None = None
    cleanup: str | None = None
    cold: bool = False
    shell: bool = False
    user: str | None = None


def build_study_text(line: OneLine, blocks: tuple[int, int]) -> str:
    """Return the text of the study file; UsageError for a line that stands for none."""
    _require_shape(line)
    factors = _varied(line)
    name, options, own_factor = _workload(line)
    text = {
        "question": _question(line, tuple(factors)),
        "target": _target(line),
        **_settings(line, tuple(factors)),
        "factors": {**own_factor, **factors},
        "workloads": [{name: options}],
        "decide": {"margin": line.margin, "risk": line.risk, "blocks": list(blocks)},
    }
    return write(text)


def name_study(line: OneLine) -> str:
    """Return the name of the study, which its folder begins with: ``try-fio``."""
    program = Path(line.command[0] if line.command else _split(line.commands[-1])[0]).stem
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"try-{program}").strip("-.")


def _require_shape(line: OneLine) -> None:
    if line.command:
        if line.commands:
            raise _usage(
                "commands to compare, or one command after --",
                f"both: {shlex.join(line.commands)} and {shlex.join(line.command)}",
                "quote each command to compare, as in iostudy try './old -v' './new -v'",
            )
    elif len(line.commands) < 2:
        raise _usage(
            "two commands to compare, or one after -- with --vary",
            shlex.join(line.commands) or "none",
            "as in iostudy try './old' './new', or iostudy try --vary NAME=a,b -- ./bench.sh",
        )


def _question(line: OneLine, varied: Sequence[str]) -> str:
    if not line.commands:
        verb = "Does" if len(varied) == 1 else "Do"
        return f"{verb} {' and '.join(varied)} matter for {_short(shlex.join(line.command))}?"
    first, *others = map(_short, line.commands)
    if len(others) > 1:
        return f"Which of {len(line.commands)} commands is better than {first}?"
    return f"Does it matter whether {others[0]} or {first} runs?"


def _short(text: str) -> str:
    return textwrap.shorten(text, MAX_LENGTH, placeholder=" ...")


def _target(line: OneLine) -> Any:
    """A directory, by its absolute path, or the target that a mapping describes."""
    if line.on is not None and line.on.startswith("{"):
        return _yaml(line.on, "--on")
    return str(line.directory / (line.on or ""))


def _varied(line: OneLine) -> dict[str, Any]:
    """Factors with their levels, by the names that a study file has."""
    factors: dict[str, Any] = {}
    for text in line.varied:
        name, equals, levels = text.partition("=")
        if not equals or not name or not levels:
            raise _usage("a name and its values", text, "write --vary NAME=first,second", "--vary")
        factors[_full_name(name)] = (
            _yaml(levels, "--vary") if levels[0] in "[{" else list(map(_value, levels.split(",")))
        )
    if line.command and all(len(levels) < 2 for levels in factors.values()):
        given = ", ".join(line.varied) or "no --vary"
        raise _usage("two values to compare", given, "add --vary NAME=first,second before --")
    return factors


def _full_name(name: str) -> str:
    """A name of sysctl(8) such as ``vm.dirty_ratio`` gets its prefix."""
    if not _is_known(name) and Path("/proc/sys", name.replace(".", "/")).is_file():
        return _SYSCTL + name
    return name


def _is_known(name: str) -> bool:
    """Return whether the name needs no commands; those of a text made before do not count."""
    definition = settings.find(name)
    if definition is None:
        return name.startswith(OPTION_PREFIX) or name == DIRECTORY_FACTOR
    return not (isinstance(definition, CommandDefinition) and definition.undocumented)


def _value(text: str) -> str | int:
    """A plain number without quotation marks; its text stays the same."""
    return int(text) if re.fullmatch(r"0|-?[1-9][0-9]*", text) else text


def _settings(line: OneLine, varied: Sequence[str]) -> dict[str, Any]:
    """The definition of the one setting that ``--read`` and ``--write`` belong to."""
    if line.read is None and line.write is None:
        return {}
    unknown = [name for name in varied if not _is_known(name)]
    if line.read is None or line.write is None or len(unknown) != 1:
        raise _usage(
            "--read and --write for one setting that iostudy does not know",
            f"--vary {', '.join(unknown) or 'of known settings alone'}",
            "give both, with {} for the value in --write; define several in a study file",
            "--read, --write",
        )
    commands = {"read": _split(line.read), "write": _split(line.write)}
    return {"settings": {unknown[0]: commands}}


def _workload(line: OneLine) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return its name and options, and the factor of commands that are compared."""
    given = [_split(text) for text in line.commands] or [list(line.command)]
    if not line.shell and all(Path(words[0]).name == "fio" for words in given):
        return FIO.name, *_fio(line, given)
    options: dict[str, Any] = {
        "label": _label(line),
        **_verdict_figures(line),
        **({"shell": True} if line.shell else {}),
        **({"user": line.user} if line.user else {}),
        **({"warmup": line.warmup} if line.warmup else {}),
        **{
            key: text if line.shell else _resolved(_split(text), line.directory)
            for key, text in (("prepare", line.prepare), ("cleanup", line.cleanup))
            if text is not None
        },
        **({"reads": True} if line.cold else {}),
        **_figures(line),
    }
    runs = [
        text if line.shell else _resolved(words, line.directory)
        for text, words in zip(line.commands or (shlex.join(line.command),), given, strict=True)
    ]
    if not line.commands:
        return COMMAND.name, {"run": runs[0], **options}, {}
    return COMMAND.name, options, {_RUN: dict(zip(_labels(line.commands), runs, strict=True))}


def _fio(line: OneLine, given: Sequence[Sequence[str]]) -> tuple[dict[str, Any], dict[str, Any]]:
    for option, value in (
        ("--warmup", line.warmup),
        ("--prepare", line.prepare),
        ("--cleanup", line.cleanup),
        ("--user", line.user),
        ("--unit", line.unit),
        ("--better", line.better),
    ):
        if value:
            raise _usage(
                "a command other than fio",
                f"{option} with fio: iostudy makes its files and knows its figures",
                f"leave {option} out, or run fio in a script of your own",
            )
    parsed = [fio_job.parse_command_line(words, line.directory) for words in given]
    options = _verdict_figures(line)
    if not line.commands:
        (run,) = parsed
        override = {"override": dict(run.override)} if run.override else {}
        return {"label": run.label, "job": block_text(run.job), **override, **options}, {}
    if any(command.override for command in parsed):
        raise _usage(
            "fio commands that differ by their job files",
            "parameters after a job file",
            "write them into the files, or vary them: --vary workload.override=iodepth=1,iodepth=8",
        )
    jobs = zip(_labels(line.commands), (block_text(run.job) for run in parsed), strict=True)
    return {"label": "fio", **options}, {_JOB: dict(jobs)}


def _figures(line: OneLine) -> dict[str, Any]:
    """Figures that the output has, by name."""
    always = {
        figure.name for figure in COMMAND.figures(CommandOptions.model_validate({"run": "true"}))
    }
    ways = {name: way for name, way in _named_figures(line).items() if way or name not in always}
    units, directions = (
        dict(zip(ways, _for_each(option, given, ways), strict=True))
        for option, given in (("--unit", line.unit), ("--better", line.better))
    )
    given = {"higher": True, "lower": False, "": None}
    remedy = "add --better higher, or --better lower; with several figures once for each"
    figures = {
        name: {
            **_extract(name, way),
            "unit": units[name] or find_unit(way) or AS_PRINTED,
            "higher_is_better": require_direction(
                name, remedy, higher_is_better=given[directions[name]]
            ),
        }
        for name, way in ways.items()
    }
    return {"figures": figures} if figures else {}


def _for_each(option: str, given: Sequence[str], figures: Collection[str]) -> Sequence[str]:
    """Return what an option says of each figure; ``""`` where it is not given."""
    if given and len(given) != len(figures):
        count = f"{len(given)} for {', '.join(figures) or 'no figure that the output has'}"
        wanted = f"{option} once for each figure, in their order"
        raise _usage(wanted, count, f"repeat {option}, or leave it out", option)
    return given or [""] * len(figures)


def _named_figures(line: OneLine) -> dict[str, str]:
    """Return how the output has each figure, by name; ``""`` for a figure by its name alone."""
    texts = (
        figure
        for text in line.figures
        for figure in ([text] if "=" in text else map(str.strip, text.split(",")))
    )
    return {name: way for name, _, way in (text.partition("=") for text in texts)}


def _verdict_figures(line: OneLine) -> dict[str, Any]:
    """Return the figures that verdicts use: one, or several of which the first decides."""
    names = list(_named_figures(line))
    return {"figure": names[0] if len(names) == 1 else names} if names else {}


def _extract(name: str, way: str) -> dict[str, str]:
    if way.startswith(_JSON):
        return {"jmespath": way.removeprefix(_JSON)}
    return {"regex": way or rf"\b{re.escape(name)}\b\W*?{_NUMBER}"}


def require_direction(name: str, remedy: str, *, higher_is_better: bool | None) -> bool:
    """Return the direction as given, otherwise as the name says; UsageError if it does not."""
    if higher_is_better is not None:
        return higher_is_better
    lower, higher = _LOWER.search(_PER_SECOND.sub("", name)), _HIGHER.search(name)
    if bool(lower) is bool(higher) or (higher and _FAULTS.search(name)):
        wanted = f"whether more or less of {name} is better"
        raise _usage(wanted, "a name that does not say it", remedy, "the name of the figure")
    return bool(higher)


def _label(line: OneLine) -> str:
    """The workload in the report: the figure of commands, or the program that runs."""
    if line.commands:
        return next(iter(_named_figures(line)), "time")
    return Path(line.command[0]).name[:MAX_LENGTH]


def _labels(commands: Sequence[str]) -> list[str]:
    """Return a label for each command: its text, shortened and numbered if it is long."""
    texts = [" ".join(text.split()) for text in commands]
    fit = all(len(text) <= MAX_LENGTH and text.isprintable() for text in texts)
    if fit and len(set(texts)) == len(texts):
        return texts
    return [
        f"{number}: {''.join(filter(str.isprintable, text))}"[:MAX_LENGTH]
        for number, text in enumerate(texts, 1)
    ]


def _resolved(arguments: Sequence[str], directory: Path) -> list[str]:
    """Return the arguments with absolute paths of the program and of files that exist.

    Every run works in a folder of its own, in which relative paths would lead nowhere.
    """
    return [
        str(directory / word)
        if ("/" in word or Path(word).suffix) and (directory / word).is_file()
        else word
        for word in arguments
    ]


def _split(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise _usage("a command", f"{text}: {error}", "close its quotation marks") from error
    if not words:
        raise _usage("a command", "an empty text", "name a program")
    return words


def _yaml(text: str, option: str) -> Any:
    """A value as a study file has it."""
    return read(f"value: {text}", option).values["value"]


def _usage(wanted: str, found: str, remedy: str, where: str = _WHERE) -> UsageError:
    return UsageError(wanted, found=found, where=where, remedy=remedy)
