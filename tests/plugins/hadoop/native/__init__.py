"""Tests of the native forms of Hadoop's benchmarks."""
