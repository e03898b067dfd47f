"""Why is this text cut here? As any method answers it: a sentence, and the tokens that it speaks of with their numbers.

Byte-pair encoding has more to say, of every boundary of a word (`why.py`). The other methods name a module whose
`explain` answers in their own terms; of a method without one it is told which tokens meet at the place.

    >>> from bpe_core.recipe import Recipe
    >>> from bpe_core.reference import train
    >>> from bpe_core.counting.words import WordTable
    >>> history = train(WordTable.from_counts({"play": 9, "playing": 5}), Recipe.preset("words", merges=3))
    >>> explain = by_tokens("playing", history, ())
    >>> [explain(byte, 3).sentence for byte in (2, 4)]
    ['The text is not cut here: “play” is one token.', 'The tokens “play” and “i” meet here.']
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from bpe_core.history.history import History
from bpe_core.learning.methods import Method
from bpe_core.records import dataclass
from bpe_core.segmenting.cutting import Allowed
from bpe_core.segmenting.segmentation import NO_TOKEN
from bpe_core.segmenting.tokenizer import Tokenizer
from bpe_core.token_texts import TokenTexts

UNKNOWN = ("stuck", "too long", "unknown")  # kinds of places inside or beside what no token is known for


@dataclass(frozen=True)
class Piece:
    """A token that is spoken of."""

    text: str
    told: str = ""  # such as what it costs


@dataclass(frozen=True)
class Way:
    """Some tokens in a row, such as one way to cut a word."""

    title: str
    pieces: tuple[Piece, ...]
    total: str = ""  # of what is told of them
    step: int | None = None  # the moment after so many steps that it is of, to travel to


@dataclass(frozen=True)
class Explanation:
    """Why a text is cut at a place after some number of steps, or why it is not."""

    kind: str
    is_cut: bool
    sentence: str
    steps: tuple[int, ...] = ()  # spoken of in the sentence, to travel to; 1 is the first
    ways: tuple[Way, ...] = ()


Explain = Callable[[int, int], Explanation]  # of the place before a byte of the text, after so many steps


def explain(text: str, history: History, allowed: Allowed) -> Explain:
    """Answers for one text, of which these special tokens stand for themselves."""
    module = Method.of(history.recipe).why if history.joining is None else "bpe_core.insight.why_priority"
    made: Explain = (import_module(module).explain if module else by_tokens)(text, history, allowed)
    return made


def by_tokens(text: str, history: History, allowed: Allowed) -> Explain:
    """What can be said of every method."""
    segmentation = Tokenizer(history).segmentation(text, allowed_special=allowed)
    texts, length = TokenTexts.of(history).text, len(text.encode())

    def at_byte(byte: int, at: int) -> Explanation:
        if not 0 < byte < length:
            return Explanation("edge", True, "The text begins or ends here.")
        found = segmentation.tokens_between(byte - 1, byte + 1, at)
        known = [f"“{texts[id]}”" for id in found.ids.tolist() if id != NO_TOKEN]
        if len(found) == 1 and known:
            return Explanation("joined", False, f"The text is not cut here: {known[0]} is one token.")
        if len(known) == 2:
            return Explanation("tokens", True, f"The tokens {known[0]} and {known[1]} meet here.")
        return Explanation("dropped", True, "What stands here belongs to no word.")

    return at_byte
