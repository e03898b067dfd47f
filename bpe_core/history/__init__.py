"""The history of a run: what was learned, step by step, and what follows from that alone."""
