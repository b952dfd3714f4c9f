"""Writes a HADOOP_CONF_DIR folder: site files and logging configuration."""

from __future__ import annotations

from pathlib import Path

from iostudy.durable import replace_whole
from iostudy_hadoop.conf.configuration import HadoopConfiguration

LOGGING = "log4j.properties"


def write(folder: Path, configuration: HadoopConfiguration, log: str | None = None) -> None:
    """Write the conf folder of a daemon, which logs to the file ``log``, or of jobs, without one.

    Jobs log to stderr. Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)  # whatever the umask: the programs that read it may be another user's
    configuration.write(folder)
    replace_whole(folder / LOGGING, logging(log))


def logging(log: str | None) -> bytes:
    """Return Hadoop's logging configuration: INFO, no audit log, files of bounded size."""
    kind, *options = ("ConsoleAppender", "target=System.err")
    if log is not None:
        file = f"File=${{hadoop.log.dir}}/{log}"
        kind, *options = ("RollingFileAppender", file, "MaxFileSize=64MB", "MaxBackupIndex=4")
    lines = [
        "log4j.rootLogger=INFO,A",
        "log4j.logger.org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit=WARN",
        # Each request over HTTP: those for the cluster's state would hide the end of the log.
        "log4j.logger.http.requests=WARN",
        f"log4j.appender.A=org.apache.log4j.{kind}",
        *(f"log4j.appender.A.{option}" for option in options),
        "log4j.appender.A.layout=org.apache.log4j.PatternLayout",
        "log4j.appender.A.layout.ConversionPattern=%d{ISO8601} %p %c: %m%n",
    ]
    return "".join(f"{line}\n" for line in lines).encode()
