"""Report of a study: one Report value, rendered for terminal, Markdown, JSON and HTML."""
