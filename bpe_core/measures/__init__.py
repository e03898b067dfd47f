"""What can be said of a tokenizer in numbers."""
