"""Documents other than the report of a study."""
