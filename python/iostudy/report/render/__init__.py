"""Renderers: terminal, Markdown, HTML, JSON and chart files."""
