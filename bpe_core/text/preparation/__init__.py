"""The operations that turn a text into words, as a tokenizer file lists them: normalizers and pre-tokenizers.

A recipe stores operations if its other choices cannot describe the file. In the code an operation is called a step.
"""
