"""The editing of vocabularies: remove tokens, append another table, change special tokens, learn more."""
