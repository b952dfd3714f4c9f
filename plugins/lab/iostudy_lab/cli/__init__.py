"""Commands of modelled drives and simulations."""
