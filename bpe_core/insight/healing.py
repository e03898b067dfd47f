"""The tokens that begin in a prompt and reach beyond its end.

    >>> from bpe_core.studies.making import train
    >>> study = train("low low lower lower", "gpt2", merges=4)
    >>> found = heal_prompt(study.inside.by_index.tokenizer, "a lo")
    >>> found.step_back, found.rest, [study.names[one.index] for one in found.tokens]
    (2, b' lo', ['␣low', '␣lowe'])

A model continues a prompt with tokens that begin where the prompt ends. In the texts from which the model learned, a
longer token may begin before this place and reach beyond it. Then the model has never seen the last tokens of the
prompt with such a continuation. So the prompt is healed: its last tokens are removed, and the next tokens of the model
must begin with the removed text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bpe_core.errors import BpeError
from bpe_core.history.token_texts import TokenBytes, is_text
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.segmenting.cutting import Allowed
from bpe_core.splitting.safe_cuts import SafeCuts
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text

LONGEST_TOKEN = 128  # bytes of a token; longer ones are not looked for
LONGEST_TAIL = 20_000  # bytes of a prompt's end that must be split together
TRIED_AT_ONCE = 1_000
MOST_TRIED = 2**25  # bytes of all texts that are tried


@dataclass(frozen=True)
class CoveringToken:
    """A token that begins in a prompt and continues beyond the end of the prompt."""

    index: int
    rest: bytes  # the end of the prompt with which it begins
    step_back: int  # tokens to leave out for it


@dataclass(frozen=True)
class HealedPrompt:
    ids: tuple[int, ...]  # of the prompt, as indices
    tokens: tuple[CoveringToken, ...]  # those for which most tokens are left out come first
    rest: bytes  # the text of the tokens to leave out
    is_whole: bool  # whether all tokens were tried

    @property
    def step_back(self) -> int:
        return max((token.step_back for token in self.tokens), default=0)

    @property
    def kept(self) -> tuple[int, ...]:
        return self.ids[: len(self.ids) - self.step_back]


def heal_prompt(
    tokenizer: Tokenizer, text: str, *, at: int | None = None, allowed: Allowed = None, work: Work = ALONE
) -> HealedPrompt:
    """Return all tokens that begin in a prompt and reach beyond its end.

    For each candidate, the rest of the token is added to the prompt, and the text is encoded. The token is
    returned only if the encoded text ends with it. The result also has the bytes of the prompt's last tokens.
    They must be removed so that each of the returned tokens can follow.
    """
    history = tokenizer.history
    at = len(history) if at is None else at
    ids = tokenizer.encode(text, at=at, allowed_special=allowed)
    data = text.encode()
    first = max(0, len(data) - LONGEST_TOKEN)
    begin = SafeCuts.of(history.recipe).last(data[:first])
    if len(data) - begin > LONGEST_TAIL:
        raise BpeError(
            f"This text has {count_text(len(data), 'byte')}, and its end cannot be split without the beginning. Give "
            f"at most the last {LONGEST_TAIL:,} bytes."
        )
    tail = data[begin:]
    of_tail = tokenizer.encode(tail.decode(), at=at, allowed_special=allowed)
    tokens: list[CoveringToken] = []
    room = MOST_TRIED
    for tried in _in_batches(_candidates(tokenizer, tail, at), TRIED_AT_ONCE):
        work.check()
        room -= sum(place + len(raw) for place, _, raw in tried)
        if room < 0:
            break
        texts = [tail[:place] + raw for place, _, raw in tried]
        batch = tokenizer.encode_batch(texts, at=at, allowed_special=allowed)
        for number, (place, index, _) in enumerate(tried):
            new = batch.ids[batch.offsets[number] : batch.offsets[number + 1]].tolist()
            if new[-1:] == [index] and (back := len(of_tail) - _common_length(of_tail, new)):
                tokens.append(CoveringToken(index, tail[place:], back))
    tokens.sort(key=lambda token: (-token.step_back, -len(token.rest), token.index))
    most = max((token.step_back for token in tokens), default=0)
    texts_of = TokenBytes(history)
    rest = b"".join(texts_of[index] for index in ids[len(ids) - most :])
    return HealedPrompt(tuple(ids), tuple(tokens), rest, room >= 0)


def _candidates(tokenizer: Tokenizer, tail: bytes, at: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield each token that begins with the last bytes of the text and continues beyond the end of the text.

    Only tokens of whole characters are yielded, each as `(offset, index, bytes)`. The offset is the position in the
    text at which the token begins.
    """
    history = tokenizer.history
    texts = TokenBytes(history)
    learned = (index for index in history.first(at).vocabulary.tolist() if index < history.first_special)
    tokens = sorted((texts[index], index) for index in learned)
    raws = [raw for raw, _ in tokens]
    for place in range(max(0, len(tail) - LONGEST_TOKEN), len(tail)):
        if tail[place] & 0xC0 == 0x80:
            continue  # inside a character
        for raw, index in tokens[_beginning_with(tail[place:], raws)]:
            if len(raw) > len(tail) - place and is_text(raw):
                yield place, index, raw


def _beginning_with(rest: bytes, raws: Sequence[bytes]) -> slice:
    """Return the slice of the sorted texts `raws` that holds all texts which begin with `rest`."""
    return slice(bisect_left(raws, rest), bisect_right(raws, rest, key=lambda raw: raw[: len(rest)]))


def _common_length(ids: Sequence[int], other: Sequence[int]) -> int:
    """Return how many ids at the beginning of both sequences are equal."""
    length = min(len(ids), len(other))
    differs = np.array(ids[:length]) != np.array(other[:length])
    return int(differs.argmax()) if differs.any() else length


def _in_batches(candidates: Iterator[tuple[int, int, bytes]], size: int) -> Iterator[list[tuple[int, int, bytes]]]:
    batch: list[tuple[int, int, bytes]] = []
    for candidate in candidates:
        batch.append(candidate)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
