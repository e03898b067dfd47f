"""What is told of a text that has been counted."""

from __future__ import annotations

from app.session.corpus_texts import CorpusText
from app.session.counts import Counted
from bpe_core.insight.long_words import LONG_WORD
from bpe_core.token_texts import quoted

LONGEST_SHOWN = 40  # bytes of a word


def how_read(counted: Counted) -> str:
    """What there is to know about how the text was found in its file."""
    read = counted.read
    if read.is_word_list:
        return "a list of words"
    return f"column “{read.column}”" if read.column else counted.encoding.upper()


def words_told(counted: Counted) -> str:
    """The words that occur most."""
    some = (f"{quoted(word[:LONGEST_SHOWN].decode(errors='replace'))} {n:,}" for word, n in counted.most_frequent)
    return f"Most frequent: {', '.join(some)}" if counted.most_frequent else ""


def warning_of(source: CorpusText, counted: Counted, splits: bool) -> str:
    found = counted.long_words
    if not splits or found is None:
        return ""
    share, longest = counted.share_in_long_words, counted.longest_word
    told = f"{share:.0%} of {source.name} stands in words of more than {LONG_WORD} bytes (the longest has {longest:,})"
    if counted.files > 1 and found.file:
        told += f", such as in {found.file}"
    if found.better:
        return f"{told}. This pattern does not split it well; {' or '.join(found.better[:2])} would do better there."
    return f"{told}. No other pattern would split it better; is it text that you want to learn from?"
