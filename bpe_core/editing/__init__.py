"""The editing of vocabularies: removing tokens, appending another table, changing special tokens, and learning more."""
