"""How a study is carried out: block by block, trial by trial, until the answers are known."""
