"""Real Hadoop: artifacts, a cluster on this machine or elsewhere, its tools and their results."""
