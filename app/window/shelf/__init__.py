"""The shelf: a text, split by tokenizers of well-known models, by all others on this computer, and by the run shown."""
