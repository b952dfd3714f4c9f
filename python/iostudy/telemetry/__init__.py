"""What the machine did: a recorder around the Rust sampler, and iostat's figures."""
