"""What limited a run, told from the figures of its recording (pure)."""
