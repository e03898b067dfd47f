"""A check of whether two tokens can be neighbours in a word, if the longest matching token is always used.

A word is split from the left, each time by the longest token that fits. So two tokens cannot be neighbours if
their joined text begins with a token that is longer than the first of them.

    >>> from bpe_core.studies.making import train
    >>> study = train("low lower lowest " * 9, "wordpiece", vocab_size=24)
    >>> number_of = {text: index for index, text in enumerate(study.inside.by_index.texts.text)}
    >>> apart = apart_in_words(study.history)
    >>> apart(number_of["l"], number_of["##o"]), apart(number_of["l"], number_of["##t"])
    ('Inside a word the longer token “lo” is chosen where the first of the two begins', '')
"""

from __future__ import annotations

from bpe_core.history.history import History
from bpe_core.history.token_texts import quoted
from bpe_core.methods.kit.apart import Apart
from bpe_core.methods.wordpiece.cut import LongestPieces

UNKNOWN = "A word with an unknown character is one token"


def apart_in_words(history: History) -> Apart:
    pieces = LongestPieces(history)
    text_of_start = {id: text for text, id in pieces.starting.items()}
    text_of_next = {id: text for text, id in pieces.continuing.items()}
    longest = max(map(len, (*pieces.starting, *pieces.continuing)), default=0)

    def apart(left: int, right: int) -> str:
        if pieces.unknown in (left, right):
            return UNKNOWN
        following = text_of_next.get(right)
        longer = list[str]()
        for texts, known in ((text_of_start, pieces.starting), (text_of_next, pieces.continuing)):
            before = texts.get(left)
            if before is None or following is None:
                continue
            whole = before + following
            stops = range(min(len(whole), longest), len(before), -1)
            chosen = next((whole[:stop] for stop in stops if whole[:stop] in known), None)
            if chosen is None:
                return ""
            longer.append(chosen)
        if not longer:
            return ""
        return f"Inside a word the longer token {quoted(longer[0])} is chosen where the first of the two begins"

    return apart
