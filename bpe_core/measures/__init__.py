"""The measures of tokenizers. The file `measures.py` explains each measure."""
