"""Tests of explanations of recorded error messages of Hadoop's clients."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from iostudy_hadoop.client_errors import explain_client_error


# Said by FsShell of Hadoop 3.4.2, and by its NameNodes, one of them secured with Kerberos; where a
# comment says so, of Hadoop 2.
class Case(NamedTuple):
    """The printed message, and its explanation: what was found, and the remedy."""

    said: str
    found: str
    remedy: str


SAID = {
    "refused": Case(
        "mkdir: Call From vm/127.0.0.1 to localhost:18820 failed on connection exception: "
        "java.net.ConnectException: Connection refused; For more details see:  "
        "http://wiki.apache.org/hadoop/ConnectionRefused",
        "no server listens",
        "whether the cluster runs",
    ),
    "unknown host": Case(
        "2026-11-21 18:38:42,902 WARN org.apache.hadoop.fs.FileSystem: Failed to initialize "
        "filesystem hdfs://nosuch.invalid:8020/x: java.lang.IllegalArgumentException: "
        "java.net.UnknownHostException: nosuch.invalid\n"
        "-mkdir: java.net.UnknownHostException: nosuch.invalid\n"
        "Usage: hadoop fs [generic options]\n\t[-appendToFile [-n] <localsrc> ... <dst>]",
        "no such host",
        "whether the cluster runs",
    ),
    "permission": Case(
        'mkdir: Permission denied: user=nobody, access=WRITE, inode="/":root:supergroup:drwxr-xr-x',
        "does not permit",
        "hdfs dfs -chown",
    ),
    "safe mode": Case(
        "mkdir: Cannot create directory /c. Name node is in safe mode.",
        "safe mode",
        "-safemode get",
    ),
    "no folder": Case(
        "mkdir: `hdfs://127.0.0.1:18820/a/x': No such file or directory",
        "not there",
        "create it",
    ),
    "exists": Case("mkdir: `hdfs:///x1': File exists", "there already", "another"),
    "ticket": Case(
        "2026-11-21 18:45:23,930 WARN org.apache.hadoop.ipc.Client: Exception encountered while "
        "connecting to the server localhost/127.0.0.1:18821\n"
        "org.apache.hadoop.security.AccessControlException: Client cannot authenticate via:"
        "[TOKEN, KERBEROS]\n"
        "\tat org.apache.hadoop.security.SaslRpcClient.selectSaslClient(SaslRpcClient.java:179)\n"
        "mkdir: DestHost:destPort localhost:18821 , LocalHost:localPort vm/127.0.0.1:0. Failed on "
        "local exception: java.io.IOException: org.apache.hadoop.security.AccessControlException: "
        "Client cannot authenticate via:[TOKEN, KERBEROS]",
        "no valid Kerberos ticket",
        "kinit",
    ),
    "ticket, Hadoop 2": Case(
        "127.0.0.1:8020 failed on local exception: java.io.IOException: "
        "javax.security.sasl.SaslException: GSS initiate failed [Caused by GSSException: No valid "
        "credentials provided (Mechanism level: Failed to find any Kerberos tgt)]",
        "no valid Kerberos ticket",
        "kinit",
    ),
    "simple": Case(
        "mkdir: SIMPLE authentication is not enabled.  Available:[TOKEN, KERBEROS]",
        "secured with Kerberos",
        "cluster's own site files",
    ),
    "realm": Case(
        'Exception in thread "main" java.lang.IllegalArgumentException: '
        "Can't get Kerberos realm\n"
        "\tat org.apache.hadoop.security.HadoopKerberosName.setConfiguration("
        "HadoopKerberosName.java:71)\n"
        "Caused by: java.lang.IllegalArgumentException: KrbException: Cannot locate default "
        "realm\n\t... 7 more",
        "no realm",
        "krb5.conf",
    ),
    "quota": Case(
        "mkdir: The NameSpace quota (directories and files) of directory /a is exceeded: quota=1 "
        "file count=2",
        "quota",
        "-count -q",
    ),
    "other port": Case(
        "mkdir: RPC response has a length of 1213486160 exceeds maximum data length",
        "no RPC port",
        "ports for RPC",
    ),
    "scheme": Case('mkdir: No FileSystem for scheme "hdfsx"', "no URI", "hdfs:///FOLDER"),
    "no host": Case(
        "2026-11-21 18:38:46,828 WARN org.apache.hadoop.fs.FileSystem: Failed to initialize "
        "filesystem hdfs:///b: java.io.IOException: Incomplete HDFS URI, no host: hdfs:///b\n"
        "mkdir: Incomplete HDFS URI, no host: hdfs:///b",
        "no URI",
        "hdfs:///FOLDER",
    ),
    "wrong file system": Case(
        "rm: Wrong FS: hdfs://a/x, expected: hdfs://b",
        "another file system",
        "in the same way",
    ),
    "standby": Case(
        "mkdir: Operation category READ is not supported in state standby. Visit "
        "https://s.apache.org/sbnn-error",
        "on standby",
        "nameservice",
    ),
    "jars": Case(
        "Error: Could not find or load main class org.apache.hadoop.fs.FsShell\n"
        "Caused by: java.lang.ClassNotFoundException: org.apache.hadoop.fs.FsShell",
        "not whole",
        "HADOOP_HOME",
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_known_errors_have_a_plain_text_and_a_remedy(case: str) -> None:
    complaint = explain_client_error(SAID[case].said)
    assert SAID[case].found in complaint.found
    assert SAID[case].remedy in complaint.remedy


@pytest.mark.parametrize("case", SAID)
def test_message_quotes_hadoop_in_one_line(case: str) -> None:
    found = explain_client_error(SAID[case].said).found
    assert "\n" not in found
    assert len(found) < 450
    assert any(word in found for word in ("mkdir:", "rm:", "Error", "Exception"))
    for noise in ("WARN", "Usage", "\tat ", "For more details"):
        assert noise not in found


def test_the_root_cause_is_reported() -> None:
    """Every error of a connection begins with an address; only its end says why."""
    said = 'Call From "vm" to "nn":8020 failed; java.net.UnknownHostException: nn; EOFException'
    assert "no such host" in explain_client_error(said).found


def test_unknown_errors_are_quoted_without_log_messages() -> None:
    said = (
        "21/11/26 18:00:00 INFO ipc.Client: Retrying connect\n"
        "mkdir: the moon is in the wrong quarter\n"
        "\tat org.apache.hadoop.Moon.rise(Moon.java:7)\n"
    )
    complaint = explain_client_error(said)
    assert complaint.found == "mkdir: the moon is in the wrong quarter"
    assert "log of the NameNode" in complaint.remedy


def test_no_output_is_reported() -> None:
    assert explain_client_error("").found == "it failed without a word"
