"""`iostudy fleet`: the commands, their options and what they print."""
