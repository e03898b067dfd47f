"""The analysis of a whole history; the questions in `bpe_core/questions` use it."""
