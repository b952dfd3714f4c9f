"""What the machine did: a recorder around the Rust sampler, its figures, and what limited a run."""
