"""How a study is told: one Report value, and its forms for terminal, Markdown, JSON and HTML."""
