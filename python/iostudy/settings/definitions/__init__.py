"""The definitions of all settings, one file a kind: values that need no host."""
