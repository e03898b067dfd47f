"""Measure tokenizers; `measures.py` says what each measure means."""
