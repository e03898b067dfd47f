"""The model of `pair_model.py` for methods that join no pairs, but split words again at some steps.

Each word is listed under the step at which its split may next change, so a step handles only these words. Only the
pairs between the unchanged ends of a word are counted again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.kernels import NEVER
from bpe_core.kernels.jit import kernel
from bpe_core.kernels.pair_model import FILLED, WANTED, bits_of_first, change_counts, total_bits
from bpe_core.kernels.pieces import AT, NO_TOKEN, write_best_path, write_pieces
from bpe_core.support.arrays import Bytes, Int32s, Int64s

# how words are split: with tokens that are added, or with tokens that are dropped, or the splits are listed
BY_LONGEST, BY_SCORES, AS_LISTED = range(3)

BEYOND = 2  # room for more tokens in a word than it has bytes: for a marker, and for one more token


class Words(NamedTuple):
    """All words one after another, and the tokens into which each word is split now."""

    data: Bytes
    starts: Int64s  # the offset of each word, and the end
    ids: Int32s  # tokens; the tokens of a word begin at its start, plus `BEYOND` for each word before it
    counts: Int64s  # the number of tokens of each word
    learned: Int64s  # how often each word occurs in the words that are learned from
    held_out: Int64s


class WordQueues(NamedTuple):
    """The lists of words that are split again, one list for each step."""

    first: Int32s  # for each step, the word on top of its list; below zero if there is none
    following: Int32s  # for each word the next word in the same list
    dropped: Int32s  # the token that each step drops
    gone: Int32s  # the step that drops each token


class WordSplits(NamedTuple):
    """The splits of all words, computed in advance. The splits of a word are in the order of the steps.

    Each split has the step until which it is valid, the number of its tokens, and the tokens.
    """

    cuts: Int32s
    next: Int64s  # the index in `cuts` of each word's next split


@kernel
def follow_words(kind, pieces, room, listed, words, waiting, model, model_room, sizes, asked, bits, step, stop, most):
    """Take all steps up to `stop`, and write the number of bits after each step that `asked` marks.

    At each step, the words whose splits change are split again. Return the first step that is not finished. Some
    words of this step may already be split again.
    """
    done, out = np.int64(0), room.previous_place
    while step <= stop and done < most:
        pieces.number[AT] = step
        if kind == BY_SCORES and step > 0:
            pieces.scores[waiting.dropped[step - 1] - NO_TOKEN] = -np.inf
        while waiting.first[step] >= 0 and done < most:
            word = np.int64(waiting.first[step])
            begin, end = words.starts[word], words.starts[word + 1]
            if 2 * (model.number[FILLED] + end - begin + BEYOND) > len(model.keys):
                return np.int64(step)
            waiting.first[step] = waiting.following[word]
            if kind == BY_SCORES:
                count = write_best_path(pieces, room, words.data, begin, end, out, np.int64(0))
                until = first_drop(waiting, out, count)
            elif kind == BY_LONGEST:
                count, until = write_pieces(pieces, words.data, begin, end, out, np.int64(0))
            else:
                count, until = next_listed(listed, word, out)
            replace_tokens(words, model, word, out, count)
            if until <= stop:
                waiting.following[word] = waiting.first[until]
                waiting.first[until] = word
            done += end - begin
        if waiting.first[step] >= 0:
            break
        if asked[step]:
            bits[step] = total_bits(model, model_room, sizes[step] + 1)
            done += model.number[WANTED]
        step += 1
    return np.int64(step)


@kernel
def first_drop(waiting, ids, count):
    until = np.int64(NEVER)
    for place in range(count):
        until = min(until, np.int64(waiting.gone[ids[place]]))
    return until


@kernel
def next_listed(listed, word, out):
    """Write the tokens of the next split that is listed for a word into `out`.

    Return the number of tokens, and the step up to which this split is valid.
    """
    place = listed.next[word]
    until, count = np.int64(listed.cuts[place]), np.int64(listed.cuts[place + 1])
    for token in range(count):
        out[token] = listed.cuts[place + 2 + token]
    listed.next[word] = place + 2 + count
    return count, until


@kernel
def replace_tokens(words, model, word, new, count):
    """Replace the tokens of a word by `new`, and change the counts of the pairs that differ."""
    place, before = words.starts[word] + BEYOND * word, words.counts[word]
    ids, edge = words.ids, np.int64(len(model.times) - 1)
    learned, held_out = words.learned[word], words.held_out[word]
    least = min(before, count)
    first = np.int64(0)
    while first < least and ids[place + first] == new[first]:
        first += 1
    if first == before and first == count:
        return
    last = np.int64(0)
    while last < least - first and ids[place + before - 1 - last] == new[count - 1 - last]:
        last += 1
    before_first = edge if first == 0 else np.int64(new[first - 1])
    if before > 0:
        change_pairs(model, before_first, edge, ids, place, first, before - last, before, -learned, -held_out)
    else:
        change_first_token(model, edge, learned, held_out)
    if count > 0:
        change_pairs(model, before_first, edge, new, np.int64(0), first, count - last, count, learned, held_out)
    else:
        change_first_token(model, edge, -learned, -held_out)
    if before != count:
        for away in range(last):  # move the tokens at the end that stay
            ids[place + count - 1 - away] = new[count - 1 - away]
    for token in range(first, count - last):
        ids[place + token] = new[token]
    words.counts[word] = count


@kernel
def change_pairs(model, left, edge, ids, place, first, last, count, learned, held_out):
    """Add `learned` and `held_out` to the counts of the pairs that end with some tokens of a word.

    These are the tokens from the index `first` to `last`. For each of them except the last, also change the number of
    pairs that begin with the token. `left` is the token before them. `edge` is the separator, which comes after the
    last token of the word.
    """
    for token in range(first, last + 1):
        right = np.int64(ids[place + token]) if token < count else edge
        change_counts(model, left, right, learned, held_out)
        if token < last:
            change_first_token(model, right, learned, held_out)
        left = right


@kernel
def change_first_token(model, token, learned, held_out):
    """Change the number of pairs that begin with `token`.

    Add `learned` to the number in the learned words, and `held_out` to the number in the held-out words.
    """
    before = bits_of_first(model, token)
    model.times[token] += learned
    model.asked[token] += held_out
    model.heads[0] += bits_of_first(model, token) - before
