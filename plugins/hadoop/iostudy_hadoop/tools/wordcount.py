"""WordCount: arguments (pure). Its only results are the counters of its job.

Source: org.apache.hadoop.examples.WordCount, the same in Hadoop 2.x and 3.x.
"""

MAIN_CLASS = "org.apache.hadoop.examples.WordCount"


def arguments(reduces: int, text: str, into: str) -> tuple[str, ...]:
    """Return the command line."""
    return (f"-Dmapreduce.job.reduces={reduces}", text, into)
