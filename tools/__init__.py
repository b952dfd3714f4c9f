"""Tools for the development of iostudy."""
