"""Tests of the search for Java and of its version check."""

from __future__ import annotations

import os

import pytest

from iostudy.errors import UsageError
from iostudy_hadoop.command import CommandLimits
from iostudy_hadoop.software import java as module
from tests.plugins.hadoop import scripts

OPENED = ("--add-opens", "java.base/java.lang=ALL-UNNAMED")


@pytest.fixture
def environ(tmp_path):
    """Where Java may be: ``home`` by JAVA_HOME, ``path`` by PATH, which has the usual tools too."""

    def make(home=None):
        path = f"{tmp_path / 'path/bin'}:{os.defpath}"
        return {"PATH": path, **({"JAVA_HOME": str(home)} if home else {})}

    return make


@pytest.mark.child
def test_java_home_is_taken_before_the_path(environ, tmp_path):
    scripts.java(tmp_path / "path", "11.0.22")
    program = scripts.java(tmp_path / "home", "17.0.15")
    found = module.find_java("3.4.2", environ(tmp_path / "home"))
    assert found == module.Java(program, "17.0.15", OPENED)
    assert found.home == tmp_path / "home"


@pytest.mark.child
def test_a_wrapper_in_the_path_leads_to_the_java_behind_it(environ, tmp_path):
    program = scripts.java(tmp_path / "real", "11.0.22", "echo Picked up JAVA_TOOL_OPTIONS: -Da=b")
    scripts.write(tmp_path / "path/bin", "java", f'exec {program} "$@"')
    assert module.find_java("3.4.2", environ()) == module.Java(program, "11.0.22", ())


@pytest.mark.parametrize(
    ("hadoop", "java", "options"),
    [
        ("2.10.2", "1.7.0_80", ()),
        ("2.7.7", "1.8.0_412", ()),
        ("3.4.2", "1.8.0_412", ()),
        ("3.4.2", "22", OPENED),
        ("3.3.6-amzn-1", "17.0.15+6", OPENED),
        ("3.4.3", "25.0.3", OPENED),
        ("3.5.0", "17", OPENED),
        ("3.1.1.7.1.7.0-551", "11.0.1", ()),
    ],
)
def test_supported_java_is_accepted_with_its_options(environ, tmp_path, hadoop, java, options):
    scripts.java(tmp_path / "home", java)
    assert module.find_java(hadoop, environ(tmp_path / "home")).options == options


@pytest.mark.parametrize(
    ("hadoop", "java", "wanted"),
    [
        ("3.4.2", "1.7.0_80", "Java 8 to 22"),
        ("3.4.2", "23-ea", "Java 8 to 22"),
        ("2.10.2", "25.0.3", "Java 7 to 22"),
        ("3.5.0", "11.0.1", "Java 17 or newer"),
    ],
)
def test_unsupported_java_is_refused(environ, tmp_path, hadoop, java, wanted):
    program = scripts.java(tmp_path / "home", java)
    with pytest.raises(UsageError) as raised:
        module.find_java(hadoop, environ(tmp_path / "home"))
    assert raised.value.wanted == f"{wanted}, to run Hadoop {hadoop}"
    assert (raised.value.found, raised.value.where) == (f"Java {java}", str(program))
    assert "openjdk-N-jre-headless by apt-get" in raised.value.remedy
    assert "java-N-openjdk-headless by dnf" in raised.value.remedy


def test_missing_java_is_refused(tmp_path):
    with pytest.raises(UsageError) as raised:
        module.find_java("3.4.2", {"PATH": str(tmp_path)})
    assert raised.value.found == "no java in the PATH, and no JAVA_HOME"


def test_a_java_home_without_java_is_no_reason_to_take_another(environ, tmp_path):
    scripts.java(tmp_path / "path", "17.0.15")
    with pytest.raises(UsageError) as raised:
        module.find_java("3.4.2", environ(tmp_path / "home"))
    assert raised.value.where == f"{tmp_path / 'home/bin/java'}, by JAVA_HOME"


@pytest.mark.child
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("exit 1", "it ended with exit code 1, and printed: nothing"),
        ("echo no JVM; exit 6", "it ended with exit code 6, and printed: no JVM"),
        ("echo gcj 4.9", "it ended with exit code 0, and printed: gcj 4.9"),
        ("echo java.version = ; echo java.home = /", "printed: java.version = / java.home = /"),
        ("sleep 3333", "it had printed nothing more after 2.0 s"),
    ],
    ids=["fails", "complains", "rubbish", "empty", "hangs"],
)
def test_broken_java_is_refused_in_time(environ, tmp_path, monkeypatch, text, found):
    monkeypatch.setattr(module, "_LIMITS", CommandLimits(60, 2))
    program = scripts.write(tmp_path / "home/bin", "java", text)
    with pytest.raises(UsageError) as raised:
        module.find_java("3.4.2", environ(tmp_path / "home"))
    assert raised.value.where == str(program)
    assert raised.value.found.endswith(found)


def test_the_real_one_is_found(java):
    assert os.access(java.path, os.X_OK)
    assert java.path == java.path.resolve()
    assert module.find_java("3.4.2", {**os.environ, "JAVA_HOME": str(java.home)}) == java
