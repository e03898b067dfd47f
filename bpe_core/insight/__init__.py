"""The analysis of whole histories. The questions in `bpe_core/questions` use it."""
