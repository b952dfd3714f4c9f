"""Answer of a study on one screen: its value, and its renderers."""
