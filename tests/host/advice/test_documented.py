"""docs/doctor.md says what the rules say today."""

from tests.host.advice.documented import DOCUMENT, chapter


def test_the_rules_in_the_documentation_are_those_of_the_code() -> None:
    assert DOCUMENT.read_text().endswith(chapter()), "run python -m tests.host.advice.documented"
