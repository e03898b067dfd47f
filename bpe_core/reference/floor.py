"""The reference implementation that checks a floor.

A floor is a lower bound on the number of tokens that a vocabulary of a given size needs. A certificate contains the
proof of a floor.

Each word is a sequence of symbols. A piece consists of two to `longest` neighbouring symbols. An edge is a piece at
a position in a word, and each edge has a price. A single symbol costs one token. An edge costs one token plus its
price. Costs are integers in a small unit of a token. The floor for a vocabulary with n pieces is computed in three
steps:

1. Split each word in the cheapest way, with any pieces. Multiply the cost by the word's count, and add up all words.
2. For each piece, add up the prices of all its edges, each multiplied by the count of the edge's word.
3. Subtract the n largest of these sums from the cost of all words.

Any vocabulary with n pieces needs at least as many tokens as the result, for three reasons:

- The vocabulary splits each word in some way. With prices, this split costs at least as much as the cheapest split. So
  the number of tokens, plus the prices of all edges in these splits, is at least the cost of all words.
- A split uses each edge at most once. So the prices of all edges in these splits are at most the sums of the n pieces.
- The sums of any n pieces are at most the n largest sums.

This is true for any prices.

Two pieces can be a couple that has a price, too. A couple has two places. At the first place, an edge of one piece and
an edge of the other overlap. At the second place, an edge of one piece ends at the node where an edge of the other
begins. Each of these four edges costs the price of the couple in addition, and each split through that node gets the
price back once. The sums of both pieces grow by the price.

The result is still a floor for any vocabulary. At the first place, a split uses at most one of the two edges, and only
if its piece is in the vocabulary. At the second place, a split pays the price only if it uses both edges, so that both
pieces are in the vocabulary. Together, a vocabulary pays the price at most once for each of the two pieces that it has.
If a piece overlaps itself, there is no second place, and the sum of the piece grows by the price once. In a word with a
count, each occurrence pays its share of the price, rounded down.

The size of a vocabulary is n plus the number of tokens that are always present, such as the base symbols.

With the word `abab` twice, and prices of half a token on each `ab`:

    >>> certificate = {"longest": 2, "limit": 0, "unit": 2, "words": [[1, 2, 1, 2]], "counts": [2]}
    >>> floor(certificate, {"pieces": 1, "prices": [1, 0, 1]})
    4
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import chain
from typing import Any, NamedTuple

from bpe_core.errors import FormatError, damage_error
from bpe_core.support.foreign import report_faults
from bpe_core.support.wording import count_text

Piece = tuple[int, ...]


def edges(word: Sequence[int], longest: int) -> Iterator[tuple[int, Piece]]:
    """Yield the pieces of a word that have 2 to `longest` symbols, each with the index of its first symbol.

    The pieces are sorted by this index and then by their length.
    """
    for begin in range(len(word)):
        for end in range(begin + 2, min(len(word), begin + longest) + 1):
            yield begin, tuple(word[begin:end])


def floor(certificate: Mapping[str, Any], of: Mapping[str, Any]) -> int:
    """Return the floor that the prices in `of` prove: no vocabulary of this size splits the words into fewer tokens.

    `of` is the certificate's entry for one size.
    """
    longest, limit, unit = (certificate[name] for name in ("longest", "limit", "unit"))
    words = certificate["words"]
    counts = certificate["counts"]
    prices = iter(of["prices"])
    occurs = Counter[Piece]()
    cost = 0
    for word, count in zip(words, counts, strict=True):
        for _, piece in edges(word, longest):
            occurs[piece] += count
    couples = _prices_of_couples(certificate, of, occurs)
    sums = couples.sums
    index = 0
    for number, (word, count) in enumerate(zip(words, counts, strict=True)):
        cheapest = [unit * node for node in range(len(word) + 1)]
        done = 0
        for begin, piece in edges(word, longest):
            for node in range(done + 1, begin + 1):
                cheapest[node] = min(cheapest[node], cheapest[node - 1] + unit) - couples.credits[number, node]
            done = begin
            most = len(piece) - 1
            price = most * unit
            more = 0
            if occurs[piece] * most > limit:
                price = next(prices)
                more = couples.added[index]
                index += 1
            sums[piece] += count * price
            end = begin + len(piece)
            cheapest[end] = min(cheapest[end], cheapest[begin] + unit + price + more)
        for node in range(done + 1, len(word) + 1):
            cheapest[node] = min(cheapest[node], cheapest[node - 1] + unit) - couples.credits[number, node]
        cost += count * cheapest[-1]
    if next(prices, None) is not None:
        raise damage_error("The certificate is damaged: it has more prices than possible tokens in its words.")
    value = cost - sum(nlargest(of["pieces"], sums.values()))
    tokens: int = -(-value // unit)
    return tokens


class Place(NamedTuple):
    """An edge, with the index of its word, its first node and its piece."""

    word: int
    begin: int
    piece: Piece

    @property
    def end(self) -> int:
        return self.begin + len(self.piece)


@dataclass(frozen=True)
class PricesOfCouples:
    """The prices of all couples, added up for each edge, for each node, and for each piece.

    `added` maps the index of an edge to its additional price. `credits` maps a node in a word to the price that a way
    through this node gets back. `sums` maps a piece to the amount by which its sum grows.
    """

    added: Counter[int] = field(default_factory=Counter)
    credits: Counter[tuple[int, int]] = field(default_factory=Counter)
    sums: Counter[Piece] = field(default_factory=Counter)


def _prices_of_couples(
    certificate: Mapping[str, Any], of: Mapping[str, Any], occurs: Mapping[Piece, int]
) -> PricesOfCouples:
    """Check each couple, and add up the prices of all couples."""
    found = PricesOfCouples()
    rows = of.get("couples", ())
    if not rows:
        return found
    counts = certificate["counts"]
    places = [
        Place(number, begin, piece)
        for number, word in enumerate(certificate["words"])
        for begin, piece in edges(word, certificate["longest"])
        if occurs[piece] * (len(piece) - 1) > certificate["limit"]
    ]
    for *four, price in rows:
        left, right, before, after = four
        _check_couple([places[edge] if 0 <= edge < len(places) else None for edge in four], four)
        each = price // counts[places[left].word]
        found.added[left] += each
        found.added[right] += each
        found.sums[places[left].piece] += price
        if before >= 0:
            each = price // counts[places[before].word]
            found.added[before] += each
            found.added[after] += each
            found.credits[places[before].word, places[before].end] += each
            found.sums[places[right].piece] += price
    return found


def _check_couple(places: Sequence[Place | None], four: Sequence[int]) -> None:
    left, right, before, after = places
    overlaps = (
        left is not None
        and right is not None
        and left != right
        and left.word == right.word
        and left.begin < right.end
        and right.begin < left.end
    )
    follows = (
        before is not None
        and after is not None
        and before.word == after.word
        and before.end == after.begin
        and left is not None
        and right is not None
        and left.piece != right.piece
        and {before.piece, after.piece} == {left.piece, right.piece}
    )
    is_alone = left is not None and right is not None and left.piece == right.piece and tuple(four[2:]) == (-1, -1)
    if not overlaps or not (follows or is_alone):
        raise FormatError(
            f"The certificate names the places {', '.join(map(str, four))} as a couple, but two pieces must overlap at "
            "the first two places, and follow each other at the other two."
        )


def fewest(certificate: Mapping[str, Any], claim: Mapping[str, Any]) -> int:
    """Return the smallest number of tokens into which the example vocabulary can split all words.

    `certificate` contains the words and their counts. `claim` is the part of the certificate about one vocabulary
    size. It contains the example vocabulary.
    """
    pieces = {tuple(piece) for piece in claim["vocabulary"]}
    tokens = 0
    for word, count in zip(certificate["words"], certificate["counts"], strict=True):
        least = list(range(len(word) + 1))
        for end in range(1, len(word) + 1):
            begins = range(max(0, end - certificate["longest"]), end - 1)
            ways = [least[begin] for begin in begins if tuple(word[begin:end]) in pieces]
            least[end] = 1 + min([least[end - 1], *ways])
        tokens += count * least[-1]
    return tokens


def tokens_of_witnesses(certificate: Mapping[str, Any]) -> dict[int, int]:
    """Return a dictionary from the size of each witness to the number of tokens that it needs.

    A witness is a vocabulary that proves how few tokens are enough. Raise FormatError if a witness has a wrong number
    of tokens or too many pieces.
    """
    with report_faults("A vocabulary in the certificate is incomplete"):
        counted = dict[int, int]()
        for claim in certificate["floors"]:
            if "vocabulary" in claim or "fewest" in claim:
                _check_vocabulary(certificate, claim)
                counted[claim["size"]] = fewest(certificate, claim)
                if counted[claim["size"]] != claim["fewest"]:
                    raise FormatError(
                        f"With the vocabulary of size {claim['size']:,}, the words need "
                        f"{count_text(counted[claim['size']], 'token')}, but the certificate says {claim['fewest']:,}."
                    )
        return counted


def _check_vocabulary(certificate: Mapping[str, Any], of: Mapping[str, Any]) -> None:
    pieces = {tuple(piece) for piece in of["vocabulary"]}
    if len(pieces) > of["pieces"] or len(pieces) != len(of["vocabulary"]):
        raise FormatError(
            f"The vocabulary of size {of['size']:,} in the certificate lists "
            f"{count_text(len(of['vocabulary']), 'piece')}. It must list at most {of['pieces']:,}, each only once."
        )
    for number in (of["fewest"], *(symbol for piece in pieces for symbol in piece)):
        if type(number) is not int:
            raise FormatError(f"A vocabulary in the certificate holds {str(number)[:80]!r} instead of a whole number.")
    longest = max(map(len, pieces), default=0)
    if longest > certificate["longest"]:
        raise FormatError(
            f"The certificate has a piece of {longest:,} symbols, but allows at most {certificate['longest']:,}."
        )
    if any(len(piece) < 2 or min(piece) < 0 for piece in pieces):
        raise FormatError(
            "A vocabulary in the certificate has a piece with only one symbol, or with an unknown character."
        )


def checked_floors(certificate: Mapping[str, Any]) -> list[tuple[int, int, int]]:
    """Return a row for each floor in a certificate: its size, the claimed number of tokens, and the proven number."""
    with report_faults("The certificate of a floor is incomplete"):
        _check_numbers(certificate)
        return [(claim["size"], claim["tokens"], floor(certificate, claim)) for claim in certificate["floors"]]


def _check_numbers(certificate: Mapping[str, Any]) -> None:
    """Raise FormatError if a value is not a whole number or is too small.

    The check comes before any multiplication. If a value were a string, Python would repeat the string instead of
    multiplying, and fill the memory.
    """
    floors = certificate["floors"]
    words = certificate["words"]
    numbers = [certificate[name] for name in ("longest", "limit", "unit", "always")]
    prices = [price for claim in floors for price in claim["prices"]]
    couples = [couple for claim in floors for couple in claim.get("couples", ())]
    if any(type(couple) is not list or len(couple) != 5 for couple in couples):
        raise damage_error("The certificate is damaged: a couple must be a list of five numbers.")
    prices += [price for *_, price in couples]
    for claim in floors:
        numbers += (claim["size"], claim["pieces"], claim["tokens"])
    symbols = [symbol for word in words for symbol in word]
    for number in (*numbers, *certificate["counts"], *prices, *symbols, *chain(*couples)):
        if type(number) is not int:
            raise FormatError(f"The certificate holds {str(number)[:80]!r} instead of a whole number.")
    for what, least in (("price", prices), ("count", certificate["counts"]), ("number of pieces", _pieces(floors))):
        if min(least, default=0) < 0:
            raise FormatError(f"A {what} in the certificate is {min(least)}, but it cannot be below 0.")
    if certificate["unit"] < 1 or certificate["longest"] < 2:
        raise damage_error("The certificate is damaged: its “unit” must be at least 1, and its “longest” at least 2.")
    _check_sizes(certificate, len({symbol for symbol in symbols if symbol >= 0}))


def _check_sizes(certificate: Mapping[str, Any], symbols: int) -> None:
    """Raise FormatError if a vocabulary size in the certificate is wrong.

    A size must be the number of tokens that every vocabulary contains, plus the number of pieces. If a certificate
    listed too few pieces for its size, its floor would be too high. `symbols` is the number of different symbols in the
    words. Every vocabulary contains all of them.
    """
    always = certificate["always"]
    if always < symbols:
        raise FormatError(
            f"The certificate says that every vocabulary has the same {count_text(always, 'token')} besides its "
            f"pieces, but the certificate's words have {count_text(symbols, 'different symbol')}."
        )
    for claim in certificate["floors"]:
        if claim["size"] != always + claim["pieces"]:
            raise FormatError(
                f"The certificate counts {count_text(claim['pieces'], 'piece')} in a vocabulary of size "
                f"{claim['size']:,}. Every vocabulary also has {count_text(always, 'token')}, so the number of pieces "
                f"must be {claim['size'] - always:,}."
            )


def _pieces(floors: Sequence[Mapping[str, Any]]) -> list[int]:
    return [claim["pieces"] for claim in floors]
