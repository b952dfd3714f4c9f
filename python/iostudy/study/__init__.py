"""What is asked: a study file becomes a Study, a Study and a seed become a Plan."""
