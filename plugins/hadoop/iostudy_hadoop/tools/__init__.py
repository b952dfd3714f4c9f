"""Arguments and output parsers of Hadoop's own benchmarks."""
