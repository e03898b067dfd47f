"""The measures of tokenizers; `measures.py` says what each measure means."""
