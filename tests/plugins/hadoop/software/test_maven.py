"""Tests of the Maven command line and of its error messages, with scripts in its place."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from importlib import resources

import pytest

from iostudy.errors import UsageError
from iostudy_hadoop.command import CommandLimits
from iostudy_hadoop.software import maven
from tests.plugins.hadoop import scripts

pytestmark = pytest.mark.child

FETCHES = """
for argument; do
    case $argument in -DoutputDirectory=*) folder=${argument#*=} ;; esac
done
echo "$@" > "$folder/arguments"
touch "$folder/hadoop-common-3.4.2.jar"
"""
FAILS = """
echo '[INFO] Scanning for projects...'
echo '[ERROR] Failed to execute goal on project hadoop: Could not resolve dependencies: {}'
echo '[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.'
exit 1
"""


@pytest.fixture
def environ(tmp_path):
    return {"PATH": f"{tmp_path / 'bin'}:{os.defpath}"}


@pytest.fixture
def fetch(tmp_path, environ):
    """Have this script fetch a version; the folder that it has filled."""

    def run(text, version="3.4.2", on_progress=print):
        scripts.write(tmp_path / "bin", "mvn", text)
        folder = tmp_path / "lib"
        folder.mkdir(exist_ok=True)
        maven.fetch(version, folder, environ, on_progress)
        return folder

    return run


def refused(fetch, text, **given):
    with pytest.raises(UsageError) as raised:
        fetch(text, **given)
    return raised.value


@pytest.mark.parametrize(
    ("version", "timeline"), [("3.4.2", True), ("2.10.2", True), ("2.8.5", False), ("2.7.7", False)]
)
def test_timeline_service_is_fetched_where_it_exists(fetch, version, timeline):
    arguments = (fetch(FETCHES, version) / "arguments").read_text().split()
    assert f"-Dhadoop.version={version}" in arguments
    assert ("-Ptimeline" in arguments) == timeline


def test_the_pom_pins_every_plugin_and_artifact():
    text = (resources.files("iostudy_hadoop.software") / "pom.xml").read_text()
    space = "{http://maven.apache.org/POM/4.0.0}"
    found = ElementTree.fromstring(text)
    pinned = [*found.iter(f"{space}plugin"), *found.iter(f"{space}dependency")]
    assert pinned
    assert all(each.findtext(f"{space}version") for each in pinned)


def test_progress_counts_files(fetch):
    lines = []
    fetch(
        f"{FETCHES}\nfor i in $(seq 120); do echo Downloaded from central: $i; done",
        on_progress=lines.append,
    )
    assert lines == ["Hadoop 3.4.2: 50 files have come", "Hadoop 3.4.2: 100 files have come"]


def test_unknown_version_is_reported_in_one_line(fetch):
    cause = (
        "Could not find artifact org.apache.hadoop:hadoop-common:jar:9.9.9 in central (https://x)"
    )
    error = refused(fetch, FAILS.format(f"A, B: {cause} -> [Help 1]"), version="9.9.9")
    assert error.found == f"Maven ended with exit code 1, and printed: {cause}"
    assert error.remedy.startswith("name a version that is there in full")


def test_unreachable_repository_is_reported_in_one_line(fetch):
    cause = "Could not transfer artifact a:b:pom:1 from/to central (https://x): Unknown host x"
    error = refused(fetch, FAILS.format(f"{cause} -> [Help 1]"))
    assert error.found.endswith(cause)
    assert "proxy and mirror in ~/.m2/settings.xml" in error.remedy


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("exit 3", "Maven ended with exit code 3, and printed: nothing"),
        ("echo The JAVA_HOME is not right; exit 1", "printed: The JAVA_HOME is not right"),
        ("echo done", "Maven ended with exit code 0, and printed: done"),
        ("echo Downloading; sleep 3333", "Maven: it had printed nothing more after 2.0 s"),
    ],
    ids=["fails", "complains", "nothing", "hangs"],
)
def test_broken_maven_is_reported(fetch, monkeypatch, text, found):
    monkeypatch.setattr(maven, "_LIMITS", CommandLimits(60, 2))
    assert refused(fetch, text).found.endswith(found)


def test_missing_maven_has_an_installation_remedy(tmp_path):
    with pytest.raises(UsageError) as raised:
        maven.fetch("3.4.2", tmp_path, {"PATH": str(tmp_path)}, print)
    assert raised.value.found == "no mvn in the PATH"
    assert "apt-get install maven" in raised.value.remedy
    assert "dnf install maven" in raised.value.remedy
