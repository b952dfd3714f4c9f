"""Topics of a report: a folder each, listed in ``registry``."""
