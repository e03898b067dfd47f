"""The names of the files that transformers reads from the folder of a tokenizer."""

from __future__ import annotations

ADDED = "added_tokens.json"
CONFIG = "tokenizer_config.json"
MAP = "special_tokens_map.json"
MODEL = "config.json"
SIDECARS = (CONFIG, MODEL, MAP, ADDED)  # the other files that transformers reads with a tokenizer.json
VOCABULARY = "vocab.json"
WHOLE = "tokenizer.json"
