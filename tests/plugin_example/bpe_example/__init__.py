"""A plug-in for BPE Explorer: a method, a format, a pattern and a question."""

from bpe_core.text.patterns import NamedPattern

LINES = NamedPattern(r"[^\n]*\n|[^\n]+", "Whole lines, each with its end.")
UNCLOSED = NamedPattern(r"(", "It is broken.")
