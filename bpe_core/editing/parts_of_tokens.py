"""The parts of new tokens: the tokens into which the old tokenizer splits the text of each new token.

Some tokenizers change the ends of a text: SentencePiece's models put a space before a text, and byte-pair encoding with
`</w>` marks the end of a text. A token from the inside of a word must not be changed in this way. So, before the token
is split, a rare character is added at the end that would be changed. Afterwards the tokens of the rare character are
removed from the result.

    >>> from bpe_core.history.alphabet import Alphabet
    >>> from bpe_core.history.history import History
    >>> from bpe_core.recipes.recipe import Recipe
    >>> pairs = [(108, 111), (256, 119)]  # l+o, lo+w
    >>> parts = Parts(History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), pairs))
    >>> parts.of([TokenText(b"slow"), TokenText("é".encode()[:1])])
    [[115, 257], [195]]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from bpe_core.history.history import History
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.support.progress import CancelCheck, never_cancelled, while_wanted

BLANK = " "
SAMPLE = "a"  # a text that shows whether a blank is put before texts
BEFORE = "\ue000"  # a character that no token begins with
BEHIND = "\ua66e"  # a letter that no token ends in, so that patterns keep it in the word
ENDS_MARKED = ("symbol", "glued")  # the markers of a recipe that stand at the end of a word


class TokenText(NamedTuple):
    """The text of a token, and facts about the token that the text does not show."""

    text: bytes  # the bytes that it stands for
    continues: bool = False  # whether it goes on with a word, as `##s` does
    is_special: bool = False
    is_fallback: bool = False  # whether it is a byte of a character that has no token


class Parts:
    def __init__(self, history: History) -> None:
        self._history = history
        self._tokenizer = Tokenizer(history)
        self._marks_ends = history.recipe.marker in ENDS_MARKED
        self._puts_blank = self._tokenizer.decode_bytes(self._ids(SAMPLE)).startswith(b" ")
        self._continuing = history.alphabet.continuing
        self._of_before = self._ids(BEFORE)
        self._of_behind = self._ids(BEHIND)

    def of(self, tokens: Sequence[TokenText], cancelled: CancelCheck = never_cancelled) -> list[list[int]]:
        """Return the parts of each new token, as indices in the old tokenizer."""
        requests = list(while_wanted(map(self._request_for, tokens), cancelled))
        batch = self._tokenizer.encode_batch([request.text for request in requests], allowed_special=())
        ids = batch.ids.tolist()
        spans = pairwise(batch.offsets.tolist())
        return [
            self._without_ends(request, ids[start:stop]) if request.is_whole else self._by_bytes(token)
            for token, request, (start, stop) in while_wanted(zip(tokens, requests, spans, strict=True), cancelled)
        ]

    def _request_for(self, token: TokenText) -> _Request:
        try:
            text = token.text.decode()
        except UnicodeDecodeError:
            return _Request("", is_whole=False)
        if token.continues and self._continuing:
            return _Request("", is_whole=False)
        if token.is_special:
            return _Request(text)
        if self._puts_blank:
            begins = text.startswith(BLANK) and text != BLANK
            return _Request(text[1:]) if begins else _Request(BEFORE + text, before=len(self._of_before))
        if self._marks_ends:
            ends = text.endswith(BLANK) and text != BLANK
            return _Request(text[:-1]) if ends else _Request(text + BEHIND, behind=len(self._of_behind))
        return _Request(text)

    def _without_ends(self, asked: _Request, ids: list[int]) -> list[int]:
        stop = len(ids) - asked.behind
        is_apart = (
            ids[: asked.before] == self._of_before[: asked.before] and ids[stop:] == self._of_behind[: asked.behind]
        )
        if is_apart and stop > asked.before:
            return ids[asked.before : stop]
        return self._ids(asked.bare) if asked.before or asked.behind else ids

    def _ids(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, allowed_special=())

    def _by_bytes(self, token: TokenText) -> list[int]:
        """Return the parts of a token whose text cannot be encoded by itself.

        The token continues a word, like `##s`, or its bytes are not whole characters.
        """
        if token.continues and self._continuing:
            return self._tokenizer.tokens_of_word(self._continuing + token.text)
        if self._history.recipe.base == "bytes" and not self._marks_ends:
            return self._tokenizer.tokens_of_word(token.text)
        return [id for stretch in self._stretches(token.text) for id in stretch]

    def _stretches(self, text: bytes) -> Iterator[list[int]]:
        """Split a text with incomplete characters into tokens.

        Runs of whole characters and runs of other bytes are split separately.
        """
        signs = text.decode(errors="surrogateescape")
        for is_byte, run in groupby(signs, key=lambda sign: "\udc80" <= sign <= "\udcff"):
            some = "".join(run)
            raw = some.encode(errors="surrogateescape")
            yield [self._of_byte(byte) for byte in raw] if is_byte else self.of([TokenText(raw)])[0]

    def _of_byte(self, byte: int) -> int:
        alphabet = self._history.alphabet
        first = alphabet.first_fallback_id
        if first is not None:
            return first + byte
        known = alphabet.id_of_piece.get(bytes([byte]), alphabet.unknown_id)
        assert known is not None  # every alphabet has bytes or an unknown token
        return known


class _Request(NamedTuple):
    """A text to encode. Later, the first `before` tokens and the last `behind` tokens of the result are removed."""

    text: str
    before: int = 0
    behind: int = 0
    is_whole: bool = True  # whether the text alone says which parts the token has

    @property
    def bare(self) -> str:
        return self.text[bool(self.before) : len(self.text) - bool(self.behind)]
