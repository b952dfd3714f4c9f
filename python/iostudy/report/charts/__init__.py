"""Common parts of Vega-Lite charts."""
