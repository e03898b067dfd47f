"""A search for the pairs of tokens that can never be neighbours in an encoded text.

For any other pair, the search tries to find a text in which the two tokens are neighbours.

    >>> from bpe_core.studies.making import train
    >>> study = train("low low lower lower", "gpt2", merges=4)  # l+o, lo+w, ␣+low, ␣low+e
    >>> together = PairsInTexts(study.inside.by_index.tokenizer)
    >>> [together.verdict(*pair).kind for pair in ((256, 119), (111, 119), (195, 195))]
    ['never', 'together', 'never']
    >>> together.verdict(108, 111).text  # by GPT-2's pattern, “'ll” is a word
    "'llo"

A proof has two parts. The first part is about two tokens in one word: the method says whether they can be neighbours
there. The second part is about tokens in two words. They are neighbours only if a word can end between them. If neither
is possible, no text contains the pair.

Some pairs are impossible for other reasons. It may be that no UTF-8 text contains their bytes. A token may represent a
single byte of unknown characters, and no unknown character has this byte. Or an added token is always found in place of
the pair. All other pairs are tried in texts with different characters before and after them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from typing import Literal

import numpy as np

from bpe_core.history.columns import DROPPED
from bpe_core.history.history import NO_NUMBER, History
from bpe_core.history.token_texts import quoted, written
from bpe_core.insight.characters_by_bytes import CharactersByBytes
from bpe_core.insight.reachability import completions
from bpe_core.insight.word_borders import PatternBorders, WordBorders
from bpe_core.kernels.stored_tables import scan_table
from bpe_core.methods.kit.apart import Apart
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.text.preparation.normalizers import BertNormalizer, Lowercase, UnicodeForm
from bpe_core.text.preparation.pieces import AddedToken, TracedPiece
from bpe_core.text.preparation.steps import is_normalizer

Verdict = Literal["together", "never", "not found"]
AROUND = ("", "a", " ", "\n", ".", "0", "'", "A", "é", "日")
BETWEEN = ("", " ")  # some tokenizers drop the space between two words
MOST_COMPLETED = 32  # texts that complete parts of characters
MOST_AROUND = 4  # of these texts, which are also tried with other characters around them
MOST_NEIGHBOURS = 400  # tokens that are tried beside a pair
NO_UTF_8 = "No text in UTF-8 holds the bytes of these tokens side by side."
NO_SUCH_BYTE = "Only characters without a token become bytes, and no such character has {} {}."
ALWAYS_SPLIT = "Wherever the texts of these tokens are side by side, a word ends inside one of them."
NEVER_SPLIT = "no word of a text ends between them"
NO_PROOF_IN_WORDS = (
    "In this tokenizer the texts of two tokens do not show whether the tokens can be neighbours, so most pairs are "
    "only looked for in sample texts."
)
TEXT_IS_CHANGED = "a text is changed before it is split, and it is not known which texts can be the result"
NO_PROOF_OF_WORDS = "Some pairs are only looked for in sample texts, because {}."


EVERY = CharactersByBytes()


@dataclass(frozen=True)
class PairVerdict:
    kind: Verdict
    sentence: str
    text: str | None = None  # a text in which they are side by side


class PairsInTexts:
    """An object that decides whether two tokens of a tokenizer can be neighbours in a text.

    Tokens are identified by the engine's indices.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._history = tokenizer.history

    def verdict(self, left: int, right: int) -> PairVerdict:
        """Return whether the token `right` can directly follow the token `left` in an encoded text.

        The verdict comes with a sentence. If a text was found in which `right` follows `left`, the verdict also has
        this text. The verdict is "not found" if no such text was found, and nothing proves that there is none.
        """
        sentence = self._why_never(left, right)
        if sentence:
            return PairVerdict("never", sentence)
        text = self._text_with(left, right)
        if text is not None:
            return PairVerdict("together", "A text holds these tokens side by side.", text)
        return PairVerdict("not found", "No text was found that holds these tokens side by side.")

    @cached_property
    def why_not_proved(self) -> str:
        """Return a sentence that says why a proof is impossible for some pairs of tokens.

        A proof shows that two tokens can never be neighbours. Without a proof, a pair is only searched for in sample
        texts. Return an empty string if a proof can be tried for all pairs of this tokenizer.
        """
        if self._apart is None:
            return NO_PROOF_IN_WORDS
        reason = self._borders.why_unknown or (TEXT_IS_CHANGED if self._history.recipe.normalizes else "")
        return NO_PROOF_OF_WORDS.format(reason) if reason else ""

    # -- by proof --------------------------------------------------------------------------

    def _why_never(self, left: int, right: int) -> str:
        """Return a sentence that proves that two tokens are never neighbours. It is empty if there is no proof."""
        specials = self.tokenizer.is_special(left), self.tokenizer.is_special(right)
        if any(specials):
            return "" if all(specials) else self._why_not_beside_special(left, right, after_special=specials[0])
        return (
            self._why_no_text(left, right)
            or self._why_no_unknown_character(left, right)
            or self._why_changed(left, right)
            or self._why_found_first(left, right)
            or self._why_not_in_words(left, right)
        )

    def _why_not_beside_special(self, left: int, right: int, *, after_special: bool) -> str:
        if after_special and self._borders.only_continues(right):
            return "After a special token a word begins, and no word begins with the second token."
        if not after_special and self._borders.never_ends(left):
            return "Before a special token a word ends, and no word ends with the first token."
        return ""

    def _why_no_text(self, left: int, right: int) -> str:
        if not self._is_of_bytes or self._borders.leaves_out:
            return ""
        raw = self.tokenizer.token_bytes(left) + self.tokenizer.token_bytes(right)
        return NO_UTF_8 if next(completions(raw), None) is None else ""

    @property
    def _is_of_bytes(self) -> bool:
        return self._borders.is_of_bytes

    def _why_no_unknown_character(self, left: int, right: int) -> str:
        bytes_of = self._bytes_of_unknown
        first, second = bytes_of.get(left), bytes_of.get(right)
        if first is not None and second is not None:
            if not self._unknown_characters.can_meet(first, second):
                return NO_SUCH_BYTE.format("these bytes", "side by side")
        elif first is not None and not self._unknown_characters.can_end(first):
            return NO_SUCH_BYTE.format("the first token's byte", "as its last byte")
        elif second is not None and not self._unknown_characters.can_begin(second):
            return NO_SUCH_BYTE.format("the second token's byte", "as its first byte")
        return ""

    def _why_changed(self, left: int, right: int) -> str:
        """Return a sentence about a character in the two tokens that never occurs in a normalized text.

        The sentence is empty if there is no such character.
        """
        change = self._last_change
        searched_first = () if self._history.joining is None else self._history.joining.found_first
        if change is None:
            return ""
        for token in (left, right):
            if token not in searched_first:
                for sign in self._borders.text_to_split(token).decode(errors="ignore"):
                    if change.changed(TracedPiece.bare(sign)).text != sign:
                        return f"A text is changed before it is split, and no changed text holds {quoted(sign)}."
        return ""

    @cached_property
    def _last_change(self) -> Lowercase | UnicodeForm | None:
        """Return the last operation that changes a text. Return None if a second use of this operation could change the
        text again.
        """
        recipe = self._history.recipe
        changes = [step for step in recipe.preparation if is_normalizer(step)]
        last = changes[-1] if changes else None
        if isinstance(last, Lowercase | UnicodeForm):
            return last
        if recipe.lowercase or (isinstance(last, BertNormalizer) and last.lowercase):
            return Lowercase()
        return UnicodeForm(recipe.unicode_form) if recipe.unicode_form and not recipe.strip_accents else None

    def _why_found_first(self, left: int, right: int) -> str:
        """Return a sentence if the text of `left` or of `right` contains an added token.

        Added tokens are found before the rest of a text is split. So a longer token with the text of an added token in
        it never occurs. Return an empty string if neither text contains an added token.
        """
        for text in (self._texts[left], self._texts[right]):
            for added in self._found_first:
                if added in text:
                    return (
                        f"The text {quoted(text)} contains the added token {quoted(added)}, which is found before the "
                        "text is split."
                    )
        return ""

    def _why_not_in_words(self, left: int, right: int) -> str:
        meeting = self._borders.meeting(left, right)
        if meeting.in_two_words:
            return ""
        if not meeting.in_one_word:
            return ALWAYS_SPLIT
        joined = self._apart(left, right) if self._apart is not None else ""
        return f"{joined}, and {NEVER_SPLIT}." if joined else ""

    @cached_property
    def _apart(self) -> Apart | None:
        return Method.of(self._history.recipe).apart_in_words(self._history)

    @cached_property
    def _borders(self) -> WordBorders:
        return WordBorders(self._history)

    @cached_property
    def _texts(self) -> list[bytes]:
        return written(self._history)

    @cached_property
    def _bytes_of_unknown(self) -> dict[int, int]:
        """Return a dictionary from tokens to bytes, for the tokens that stand for a byte of an unknown character."""
        first = self._history.alphabet.first_fallback_id
        return {} if first is None else {first + byte: byte for byte in range(256)}

    @cached_property
    def _unknown_characters(self) -> CharactersByBytes:
        history = self._history
        has_id = history.numbers_of(np.arange(len(history.alphabet))) != NO_NUMBER
        if history.scores is not None:  # some characters are only parts of longer tokens
            has_id &= history.scores.at(len(history))[: len(has_id)] != DROPPED
        hidden = set() if history.joining is None else {*history.joining.hidden, *history.joining.left_out}
        texts = [
            symbol.decoded.decode(errors="replace")
            for index, symbol in enumerate(history.alphabet.symbols)
            if symbol.kind == "character" and has_id[index] and index not in hidden
        ]
        return CharactersByBytes(ord(text) for text in texts if len(text) == 1)

    @cached_property
    def _found_first(self) -> list[bytes]:
        """Return the texts of the added tokens that are found in a text before it is split into words.

        If texts are normalized, tokens that are found before the normalization are left out.
        """
        recipe = self._history.recipe
        sought = set(self.tokenizer.allowed(None))
        found = list[bytes]()
        for step in recipe.preparation if self._is_of_bytes else ():
            is_found = isinstance(step, AddedToken) and step.content in sought and not step.single_word
            if is_found and (step.normalized or not recipe.normalizes):
                found.append(step.content.encode())
        return found

    # -- by texts --------------------------------------------------------------------------

    def _text_with(self, left: int, right: int) -> str | None:
        before, after = self.tokenizer.token_bytes(left), self.tokenizer.token_bytes(right)
        for text in self._texts_with_unknown(left, right):
            if self._first_with([text], left, right) is not None:
                return text
        for between in BETWEEN:
            bare = [*islice(completions(before + between.encode() + after), MOST_COMPLETED)]
            some = bare[:: -(-len(bare) // MOST_AROUND)] if bare else []
            around = [first + text + last for first, last in product(self._before, AROUND) for text in some]
            for texts in (bare, around):
                held_by = self._first_with(texts, left, right)
                if held_by is not None:
                    return held_by
        more = [*self._texts_with_more_tokens(left, right), *self._texts_with_other_characters(before + after)]
        return self._first_with(more, left, right) if more else None

    def _texts_with_more_tokens(self, left: int, right: int) -> Iterator[str]:
        """Yield texts with an additional token before the two tokens, after them, or on both sides.

        If the left token can only continue a word, a token before it begins the word. If the right token cannot end
        a word, a token after it ends the word.
        """
        texts = [self._plain_text(left) + between + self._plain_text(right) for between in BETWEEN]
        firsts = self._beginnings if self._borders.only_continues(left) else [""]
        lasts = self._ends if self._borders.never_ends(right) else [""]
        if len(firsts) + len(lasts) > 2:
            yield from (first + text + last for first, text, last in product(firsts, texts, lasts))

    @cached_property
    def _beginnings(self) -> list[str]:
        return self._shortest(lambda token: not self._borders.only_continues(token))

    @cached_property
    def _ends(self) -> list[str]:
        return self._shortest(lambda token: not self._borders.never_ends(token))

    def _shortest(self, is_wanted: Callable[[int], bool]) -> list[str]:
        """Return the texts of the shortest ordinary tokens for which `is_wanted` returns True.

        There are at most MOST_NEIGHBOURS of them.
        """
        learned = self._history.vocabulary[self._history.vocabulary < self._history.first_special]
        wanted = [self._plain_text(token) for token in learned.tolist() if is_wanted(token)]
        return sorted(wanted, key=len)[:MOST_NEIGHBOURS]

    def _texts_with_other_characters(self, raw: bytes) -> Iterator[str]:
        """Yield texts that contain the bytes `raw`. Incomplete characters are completed in very different ways."""
        text = raw.decode(errors="surrogateescape")
        inner = text.strip("".join(map(chr, range(0xDC80, 0xDD00))))
        head, _, tail = text.partition(inner) if inner else (text, "", "")
        heads = [""] if not head else [*EVERY.examples(_bytes_of(head), at_end=True, most=MOST_COMPLETED)]
        tails = [""] if not tail else [*EVERY.examples(_bytes_of(tail), most=MOST_COMPLETED)]
        if head or tail:
            yield from (first + inner + last for first, last in product(heads, tails))

    def _texts_with_unknown(self, left: int, right: int) -> Iterator[str]:
        """Yield texts in which `left` and `right` may be neighbours as bytes of unknown characters.

        An unknown character has no token of its own, and is split into tokens of its bytes. Yield nothing if neither
        `left` nor `right` is the token of such a byte.
        """
        bytes_of = self._bytes_of_unknown
        if left not in bytes_of and right not in bytes_of:
            return
        characters = self._unknown_characters
        firsts = [self._plain_text(left)]
        lasts = [self._plain_text(right)]
        if left in bytes_of:
            firsts = [*characters.examples(bytes([bytes_of[left]]), at_end=True)]
        if right in bytes_of:
            lasts = [*characters.examples(bytes([bytes_of[right]]))]
        yield from (first + last for first, last in product(firsts, lasts))
        if left in bytes_of and right in bytes_of:
            yield from characters.examples_with(bytes([bytes_of[left], bytes_of[right]]))

    def _plain_text(self, token: int) -> str:
        return self.tokenizer.token_bytes(token).decode(errors="replace")

    def _first_with(self, texts: list[str], left: int, right: int) -> str | None:
        """Return the first of the given texts in which two tokens are neighbours, or None."""
        batch = self.tokenizer.encode_batch(texts, allowed_special="all")
        together = (batch.ids[:-1] == left) & (batch.ids[1:] == right)
        together[batch.offsets[(batch.offsets > 0) & (batch.offsets < len(batch.ids))] - 1] = False
        if together.any():
            return texts[int(np.searchsorted(batch.offsets, int(together.argmax()), side="right")) - 1]
        return None

    @cached_property
    def _before(self) -> Sequence[str]:
        """Return the texts to put before a pair of tokens, to find a text in which the two tokens are neighbours.

        Some of them are common characters. The other texts bring the state machine of the pattern into each of its
        states.
        """
        table = scan_table(self._history.recipe)
        more = () if table is None else PatternBorders(table).texts_to_states
        return tuple(dict.fromkeys((*AROUND, *more)))


def _bytes_of(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def drawn_pairs(history: History, number: int, seed: int = 0) -> Iterator[tuple[int, int]]:
    """Yield `number` random pairs of tokens in use. All pairs are equally likely."""
    tokens = history.vocabulary
    chance = np.random.default_rng(seed)
    for left, right in chance.integers(len(tokens), size=(number, 2)).tolist():
        yield int(tokens[left]), int(tokens[right])
