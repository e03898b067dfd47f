"""The steps by which a tokenizer file turns text into words.

A recipe stores steps if its other choices cannot describe the file.
"""
