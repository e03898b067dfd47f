"""Answers drawn from the full history of a training run; the questions in `bpe_core/questions` ask for them."""
