"""Hadoop's own benchmarks as workloads; what they print is read by `iostudy_hadoop`."""
