"""The table that CI ends with."""

from tools.run_targets import Part, print_table

OUTPUT = """\
test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: FAILED. 6 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
unit tests: 3 passed
host tests: 2 passed, 1 flaky, 4 skipped
left out: 4 (needs root and loop devices)
another line
"""


def test_counts_of_all_runners_are_added_and_stand_below_their_target(capsys):
    tests = Part("test", passed=False, seconds=61)
    for line in OUTPUT.splitlines(keepends=True):
        tests.read(line)
    print_table([Part("check", passed=True, seconds=59.6), tests], 70)
    assert capsys.readouterr().out.splitlines() == [
        "check   passed    1 min  0 s",
        "test    FAILED    1 min  1 s",
        "    Rust tests: 10 passed, 2 failed, 1 ignored",
        "    unit tests: 3 passed",
        "    host tests: 2 passed, 1 flaky, 4 skipped",
        "    left out: 4 (needs root and loop devices)",
        "in all            1 min 10 s",
        "16 passed, 2 failed",
    ]
