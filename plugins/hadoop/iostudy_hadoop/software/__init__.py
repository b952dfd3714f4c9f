"""Hadoop's jars and the Java that runs them."""
