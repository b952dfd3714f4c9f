"""Hadoop's benchmarks on plain directories, by the native engine of iostudy."""
