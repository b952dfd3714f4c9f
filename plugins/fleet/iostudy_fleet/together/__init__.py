"""Design together: all nodes run each trial at the same time, as one node of the study."""
