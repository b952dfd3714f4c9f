"""Modelled drives as block devices of this host."""
