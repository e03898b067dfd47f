"""What was learned, step by step, and what follows from it alone."""
