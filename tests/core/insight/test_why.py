"""Tests of the reasons for boundaries. Each reason names a merge.

If this merge is changed, the text is split differently. If any other merge is changed, the text is split as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.insight.boundary_reasons import Reason, sentence
from bpe_core.insight.pattern_branches import alternatives, branch_that_matched
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.bpe.explain import Why, reason_in_word
from bpe_core.methods.kit.merge_tree import Node, encoding_steps, meetings, merge_trees
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.boundaries import NEVER
from bpe_core.text.corpus import Corpus
from bpe_core.text.patterns import NAMED_PATTERNS
from tests.conftest import EXAMPLES
from tests.core.learning import train
from tests.core.random_training import merge_tables, recipes, texts, words

Pairs = list[tuple[int, int]]


def table_of(history: History, pairs: Pairs) -> History:
    return History.from_pairs(history.recipe, history.alphabet, pairs)


def pairs_of(history: History, at: int) -> Pairs:
    return [(merge.left, merge.right) for merge in history.first(at)]


def starts_of_tokens(symbols: list[int], pairs: Pairs, base: int) -> set[int]:
    """Return where tokens begin after all pairs are merged in order."""
    lengths = dict.fromkeys(range(base), 1)
    tokens = symbols
    for index, pair in enumerate(pairs):
        lengths[base + index] = lengths[pair[0]] + lengths[pair[1]]
        tokens = reference.join(tokens, pair, base + index)
    starts, place = set(), 0
    for token in tokens:
        starts.add(place)
        place += lengths[token]
    return starts


def with_pair_before(pairs: Pairs, base: int, pair: tuple[int, int], place: int) -> Pairs:
    """Return the pairs with one pair inserted as merge `place`. Later ids move up by one."""

    def moved(id: int) -> int:
        return id if id < base + place else id + 1

    return [*pairs[:place], pair, *((moved(left), moved(right)) for left, right in pairs[place:])]


@st.composite
def boundary_cases(draw: st.DrawFn) -> tuple[History, list[int], list[int], int, int]:
    """Draw a merge table, the symbols of a word, the ranks of its boundaries, one of these boundaries, and a step."""
    history = draw(merge_tables())
    letters = [id for id, symbol in enumerate(history.alphabet.symbols) if symbol.kind != "marker"]
    used = sorted({id for merge in history for id in (merge.left, merge.right) if id < len(history.alphabet)})
    symbols = draw(st.lists(st.sampled_from(used or letters), min_size=2, max_size=14))
    ranks = list(PlainRanks(history).ranks(symbols))
    boundary = draw(st.integers(0, len(symbols) - 2))
    return history, symbols, ranks, boundary, draw(st.integers(0, len(history)))


class PlainRanks:
    """The boundary ranks of a word, computed in plain Python: make all merges, and note which merge removes each
    boundary.
    """

    def __init__(self, history: History) -> None:
        self.history = history

    def ranks(self, symbols: list[int]) -> list[int]:
        base, ranks = len(self.history.alphabet), [NEVER] * (len(symbols) - 1)
        pairs = pairs_of(self.history, len(self.history))
        before = starts_of_tokens(symbols, [], base)
        for made in range(1, len(pairs) + 1):
            now = starts_of_tokens(symbols, pairs[:made], base)
            for start in before - now:
                ranks[start - 1] = made - 1
            before = now
        return ranks


@settings(max_examples=5 * EXAMPLES)
@given(boundary_cases())
def test_each_reason_for_a_boundary_names_the_deciding_merge(
    case: tuple[History, list[int], list[int], int, int],
) -> None:
    history, symbols, ranks, boundary, at = case
    base = len(history.alphabet)
    pairs = pairs_of(history, at)
    reason = reason_in_word(symbols, ranks, boundary, history, at)
    stands = boundary + 1 in starts_of_tokens(symbols, pairs, base)
    assert stands == (reason.kind != "joined")
    check = {"joined": check_joined, "later": check_later, "taken": check_taken, "overlap": check_overlap}
    check.get(reason.kind, check_never)(reason, history, symbols, boundary, at)


@settings(max_examples=3 * EXAMPLES)
@given(boundary_cases(), st.data())
def test_removing_an_unrelated_merge_does_not_change_the_reason_for_a_boundary(
    case: tuple[History, list[int], list[int], int, int], data: st.DataObject
) -> None:
    """The test removes a merge that the reason does not name and that the word does not need."""
    history, symbols, ranks, boundary, at = case
    base, pairs = len(history.alphabet), pairs_of(history, len(history))
    reason = reason_in_word(symbols, ranks, boundary, history, at)
    innocent = set(range(len(pairs))) - ranks_in(history, symbols) - {reason.rank, reason.taken_by}
    assume(innocent)
    gone = data.draw(st.sampled_from(sorted(innocent)))
    left, moved = without_merge(pairs, gone, base)
    assume(len(left) == len(pairs) - 1)  # no later merge uses the token
    table = table_of(history, left)
    moment = at - (gone < at)
    again = reason_in_word(symbols, PlainRanks(table).ranks(symbols), boundary, table, moment)
    assert again.kind == reason.kind
    assert again.pair == (None if reason.pair is None else tuple(map(moved, reason.pair)))
    stands = boundary + 1 in starts_of_tokens(symbols, pairs[:at], base)
    assert stands == (boundary + 1 in starts_of_tokens(symbols, left[:moment], base))


def check_joined(reason: Reason, history: History, symbols: list[int], boundary: int, at: int) -> None:
    """Check that the boundary exists before the merge that the reason names, and not after this merge."""
    assert reason.rank is not None
    assert reason.rank < at
    base = len(history.alphabet)
    pairs = pairs_of(history, len(history))
    assert boundary + 1 in starts_of_tokens(symbols, pairs[: reason.rank], base)
    assert boundary + 1 not in starts_of_tokens(symbols, pairs[: reason.rank + 1], base)
    assert reason.pair == pairs[reason.rank]


def check_later(reason: Reason, history: History, symbols: list[int], boundary: int, at: int) -> None:
    """Check that the pair in `reason` is merged after the first `at` steps, and that its merge removes the boundary.

    The merge may have no effect on the boundary at its own step. Then it must remove the boundary if it is made right
    after `at` steps.
    """
    assert reason.rank is not None
    assert reason.rank >= at
    assert reason.pair == pairs_of(history, len(history))[reason.rank]
    base = len(history.alphabet)
    dissolved_then = boundary + 1 not in starts_of_tokens(
        symbols, pairs_of(history, reason.rank + 1), base
    ) and boundary + 1 in starts_of_tokens(symbols, pairs_of(history, reason.rank), base)
    if not dissolved_then:
        assert_joined_if_learned_next(reason, history, symbols, boundary, at)


def check_taken(reason: Reason, history: History, symbols: list[int], boundary: int, at: int) -> None:
    """Check that the boundary would vanish if the pair were merged earlier.

    For this check, the pair is moved to the place just before the merge that takes one of its two tokens.
    """
    assert reason.rank is not None
    assert reason.taken_by is not None
    assert reason.pair is not None
    assert reason.taken_by < reason.rank < at
    assert reason.pair == pairs_of(history, at)[reason.rank]
    assert reason.taken in reason.pair
    base = len(history.alphabet)
    promoted = with_pair_before(pairs_of(history, at), base, reason.pair, reason.taken_by)
    if reason.pair[0] != reason.pair[1]:  # in a run of equals the parity decides instead
        assert boundary + 1 not in starts_of_tokens(symbols, promoted, base)


def ranks_in(history: History, symbols: list[int]) -> set[int]:
    return set(PlainRanks(history).ranks(symbols))


def without_merge(pairs: Pairs, index: int, base: int) -> tuple[Pairs, Callable[[int], int]]:
    """Remove one merge, and all merges that need its token. Return the other pairs.

    Also return a function from the old ids to the new ids.
    """
    gone, kept = {base + index}, Pairs()
    place_of: dict[int, int] = {}
    for rank, (left, right) in enumerate(pairs):
        if rank == index or left in gone or right in gone:
            gone.add(base + rank)
            continue
        place_of[base + rank] = base + len(kept)
        kept.append((place_of.get(left, left), place_of.get(right, right)))
    return kept, lambda id: place_of.get(id, id)


def check_overlap(reason: Reason, history: History, symbols: list[int], boundary: int, at: int) -> None:
    """Check that an even number of equal tokens ends at the boundary, and that another equal token follows.

    This must be true before the merge that `reason` names. This merge joins the tokens before the boundary in
    pairs, so that the token after the boundary has no partner.
    """
    assert reason.pair is not None
    assert reason.rank is not None
    assert reason.rank == reason.taken_by
    assert reason.pair[0] == reason.pair[1]
    tree = merge_trees(symbols, PlainRanks(history).ranks(symbols), len(history.alphabet), reason.rank)
    left = next(i for i, node in enumerate(tree) if node.stop == boundary + 1)
    assert tree[left].id == tree[left + 1].id == reason.pair[0]
    run = 0
    while left - run >= 0 and tree[left - run].id == reason.pair[0]:
        run += 1
    assert run % 2 == 0


def check_never(reason: Reason, history: History, symbols: list[int], boundary: int, at: int) -> None:
    """Check that the table has none of the pairs that were neighbours at the boundary.

    Also check that the boundary vanishes if the table learns the last of these pairs.
    """
    assert reason.kind in ("never", "too long", "unknown")
    ranks = PlainRanks(history).ranks(symbols)
    learned = history.ranks()
    base = len(history.alphabet)
    for meeting in meetings(symbols, ranks, boundary, base):
        if meeting.first <= at:
            rank = learned.get((meeting.left, meeting.right))
            assert rank is None or rank >= at
    assert_joined_if_learned_next(reason, history, symbols, boundary, at)


def assert_joined_if_learned_next(reason: Reason, history: History, symbols: list[int], boundary: int, at: int) -> None:
    assert reason.pair is not None
    if reason.pair[0] == reason.pair[1]:
        return  # among equals the parity of the run decides
    extended = [*pairs_of(history, at), reason.pair]
    assert boundary + 1 not in starts_of_tokens(symbols, extended, len(history.alphabet))


@given(boundary_cases())
def test_pairs_listed_for_a_boundary_are_the_neighbouring_tokens_at_each_step(
    case: tuple[History, list[int], list[int], int, int],
) -> None:
    history, symbols, ranks, boundary, at = case
    base = len(history.alphabet)
    met = [meeting for meeting in meetings(symbols, ranks, boundary, base) if meeting.first <= at <= meeting.last]
    trees = merge_trees(symbols, ranks, base, at)
    left = [node.id for node in trees if node.stop == boundary + 1]
    right = [node.id for node in trees if node.start == boundary + 1]
    assert [(meeting.left, meeting.right) for meeting in met] == (list(zip(left, right, strict=True)) if left else [])


def nodes_of(tree: Node) -> Iterator[Node]:
    """Yield the topmost node of a merge tree and all nodes below it."""
    yield tree
    for part in (tree.left, tree.right):
        yield from () if part is None else nodes_of(part)


@given(boundary_cases())
def test_merge_trees_and_encoding_steps_equal_those_of_plain_python(
    case: tuple[History, list[int], list[int], int, int],
) -> None:
    history, symbols, ranks, _, at = case
    base = len(history.alphabet)
    tokens = symbols
    expected = [tokens]
    for merge in history.first(at):
        joined = reference.join(tokens, (merge.left, merge.right), merge.index)
        if joined != tokens:
            expected.append(joined)
        tokens = joined
    assert [[node.id for node in step.tokens] for step in encoding_steps(symbols, ranks, base, at)] == expected
    for node in (below for tree in merge_trees(symbols, ranks, base, at) for below in nodes_of(tree)):
        assert_parts_fit(node, history, symbols)


def assert_parts_fit(node: Node, history: History, symbols: list[int]) -> None:
    if node.rank is None:
        assert symbols[node.start : node.stop] == [node.id]
        return
    merge = history[node.rank]
    assert node.left is not None
    assert node.right is not None
    assert (node.left.id, node.right.id, node.id) == (merge.left, merge.right, merge.index)
    assert (node.left.start, node.left.stop, node.right.stop) == (node.start, node.right.start, node.stop)


@given(words(), recipes(), texts(), st.data())
def test_the_reason_given_at_each_byte_agrees_with_the_boundaries_of_the_text(
    table: WordTable, recipe: Recipe, text: str, data: st.DataObject
) -> None:
    history = reference.train(table, recipe)
    text = text.replace("\ud800", "")
    why = Why(text, history, corpus=RankedWords.of(table, history))
    at = data.draw(st.integers(0, len(history)))
    starts = {start for start, stop, _ in Tokenizer(history).spans(text, at) if stop > start}
    for byte in range(1, len(text.encode())):
        reason = why.at_byte(byte, at)
        assert sentence(reason, str)
        if reason.kind in ("joined", "symbol"):
            assert byte not in starts
        elif reason.kind in ("later", "taken", "overlap", "never", "unknown", "too long"):
            assert byte in starts


@given(words(), recipes())
def test_the_reported_count_of_a_never_merged_pair_matches_a_recount(table: WordTable, recipe: Recipe) -> None:
    history = reference.train(table, recipe)
    ranked = RankedWords.of(table, history)
    text = " ".join(word.decode() for word, _ in table)
    why = Why(text, history, corpus=ranked)
    corpus = [(history.alphabet.symbols_of(word, recipe), count) for word, count in table]
    for merge in history:
        corpus = [(reference.join(word, (merge.left, merge.right), merge.index), count) for word, count in corpus]
    counts = reference.count_pairs(corpus)
    reasons = [why.at_byte(byte) for byte in range(1, len(text.encode()))]
    for reason in reasons:
        if reason.kind == "never":
            assert reason.standing is not None
            assert reason.pair is not None
            assert reason.standing.now == counts.get(reason.pair, 0)
            assert reason.standing.best >= reason.standing.now


def test_each_boundary_in_the_word_newer_has_a_reason() -> None:
    recipe = Recipe.preset("words", marker="symbol", merges=10)
    history = train(Corpus.from_word_counts({"low": 5, "lower": 2, "newest": 6, "widest": 3}), recipe)
    why = Why("newer", history)
    names = Tokenizer(history).token_bytes
    sentences = [sentence(why.at_byte(byte), lambda id: names(id).decode()) for byte in range(1, 5)]
    assert sentences[0] == "The text is not split here: merge 6 joins n + e."
    assert all(sentences)


def test_boundaries_at_special_tokens_and_boundaries_at_dropped_spaces_have_different_reasons() -> None:
    recipe = Recipe.preset("gpt2", special_tokens=("<end>",))
    history = train(Corpus.from_texts(["low low lower"]), recipe)
    why = Why("low<end>low", history, allowed_special="all")
    assert [why.at_byte(byte).kind for byte in (3, 8)] == ["special", "special"]
    assert why.at_byte(4).kind == "symbol"
    history = train(Corpus.from_texts(["low low lower"]), Recipe.preset("words"))
    assert [Why("low   low", history).at_byte(byte).kind for byte in (3, 4, 5, 6)] == [
        "pattern",
        "dropped",
        "dropped",
        "pattern",
    ]


@given(words(), texts(), st.data())
def test_the_pattern_is_the_reason_for_a_word_boundary_only_if_the_pattern_splits_there(
    table: WordTable, text: str, data: st.DataObject
) -> None:
    """The word boundary remains after any merge. Without a pattern there is no word boundary."""
    text = text.replace("\ud800", "")
    assume(len(text.encode()) > 1)
    byte = data.draw(st.integers(1, len(text.encode()) - 1))
    with_pattern, without_pattern = (
        reference.train(table, Recipe.preset("gpt2", pattern=name, merges=20)) for name in ("gpt2", "none")
    )
    cuts = [Why(text, with_pattern).at_byte(byte, at).kind == "pattern" for at in (0, len(with_pattern))]
    assert cuts[0] == cuts[1]
    assert Why(text, without_pattern).at_byte(byte).kind != "pattern"
    ids = {start for start, _, _ in Tokenizer(with_pattern).spans(text)}
    assert not cuts[0] or byte in ids


def test_the_reason_for_a_word_boundary_names_the_pattern_branches_on_both_sides() -> None:
    history = train(Corpus.from_texts(["it's 12 o'clock"]), Recipe.preset("gpt2", min_frequency=1))
    reason = Why("it's 12", history).at_byte(2)
    assert reason.kind == "pattern"
    assert reason.before is not None
    assert reason.after is not None
    assert (reason.before.number, reason.after.number) == (2, 1)
    assert "contraction" in sentence(reason, str)


@given(st.sampled_from(sorted(NAMED_PATTERNS)), texts())
def test_the_matching_branch_of_a_named_pattern_agrees_with_the_regex_library(name: str, text: str) -> None:
    """A group around each alternative shows which alternative matched, and its number must equal ours."""
    import regex

    recipe = Recipe(pattern=name)
    branches = alternatives(NAMED_PATTERNS[name].expression)
    grouped = regex.compile("|".join(f"({branch})" for branch in branches))
    assert "|".join(branches) == NAMED_PATTERNS[name].expression
    for match in grouped.finditer(text):
        branch = branch_that_matched(text, match.start(), match.end(), recipe)
        assert branch is not None
        assert branch.number == match.lastindex
        assert branch.explanation


def test_the_number_of_the_alternative_by_which_a_custom_pattern_matched_a_word_is_found() -> None:
    recipe = Recipe(pattern="custom", custom_pattern=r"(?i)[a-c|]+|\||x(?:y|z)")
    branches = [branch_that_matched("aB|xZ", start, stop, recipe) for start, stop in ((0, 3), (3, 5))]
    assert [branch and branch.number for branch in branches] == [1, 3]
    referring = Recipe(pattern="custom", custom_pattern=r"(a)b|c\1")
    assert branch_that_matched("ab", 0, 2, referring) is None


@given(merge_tables())
def test_the_ranks_of_a_history_give_the_step_of_each_merged_pair(history: History) -> None:
    assume(len(history))
    ranks = history.ranks()
    assert [ranks[merge.left, merge.right] for merge in history] == list(range(len(history)))


def test_shortening_a_word_in_a_reason_does_not_change_the_reported_pattern_branch() -> None:
    """The reason shows only the part of the word near the boundary. This part may begin or end inside a character."""
    text = "a " + "お" * 500 + " b"
    why = Why(text, History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), []))
    cut = 1  # before the blank that belongs to the long word
    assert why.at_byte(cut).kind == "pattern"
    short = Why("a おお b", why.history)
    assert why.at_byte(cut) == short.at_byte(cut)
