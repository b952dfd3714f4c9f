"""A cluster that others have started."""
