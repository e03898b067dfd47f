"""The files that get a name on the command line, such as `ours=tokenizer.json`."""

from __future__ import annotations

import os


def named_file(word: str) -> tuple[str, str]:
    """Split NAME=FILE into the name and the file.

    The name is empty if there is none, or if the whole word is the name of an existing file.

    >>> named_file("ours=a.csv"), named_file("a.csv"), named_file("=a.csv")
    (('ours', 'a.csv'), ('', 'a.csv'), ('', '=a.csv'))
    """
    name, equals, file = word.partition("=")
    return (name, file) if equals and name and file and not os.path.lexists(word) else ("", word)
