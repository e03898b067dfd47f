"""The analysis of whole histories, which the questions in `bpe_core/questions` use."""
