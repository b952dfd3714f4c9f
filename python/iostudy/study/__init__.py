"""Study files: parsing into a Study, and planning from a Study and a seed."""
