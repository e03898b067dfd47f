"""The shelf: a text in the tokenizers of well-known models, in all others on this computer, and in the run shown."""
