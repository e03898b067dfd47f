"""What was learned, step by step, and what can be told of it without asking anybody else."""
