"""Windows of a switchback study, and their confirmation."""
