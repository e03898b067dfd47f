"""What a tokenizer and texts tell, as tables: for Python, and for data frames.

Each function takes a tokenizer or a history, and mostly texts; each gives a table whose `columns` data frames take
as they are: `pandas.DataFrame(table.columns)`, `polars.DataFrame(table.columns)`. `write_data(table, "name.parquet")`
writes it.

>>> import bpe_core as bpe
>>> history = bpe.train(bpe.Corpus.from_texts(["low low lower newest widest"] * 2), bpe.Recipe.preset("gpt2", merges=4))
>>> steps(history).columns["token_text"], steps(history).columns["count"].tolist()
(['lo', 'low', '␣low', 'es'], [6, 6, 4, 4])
>>> ranks(history, "slow news").columns["text"]
['s', '␣', 'e', 'n', 'w', 'low']
>>> ties(history).columns["loser_right_text"]
['w', 's', 't']
>>> sizes(history, {"a text": "lowest", "another": "wide"}).columns["tokens"]
[6, 5, 4, 4, 3, 4, 4, 4, 4, 4]
>>> [round(bits, 2) for bits in bits(history, ["low lower"], held_out=["lowest"]).columns["bits_per_byte"]]
[4.46, 4.48, 4.37, 4.57, 3.82]
>>> race(history, "low low lower newest widest", [4]).columns["count"]
[2, 0]
>>> tree(history, " low", at=1).columns["text"], why(history, "lowest").columns["is_cut"]
(['␣', 'l', 'o', 'lo', 'w'], [False, False, True, False, True])
>>> life(history, "low low lower", "low").columns["count"].tolist(), paid(history, "low low", 2).columns["text"]
([3, 3, 1], ['low', '␣low'])

Beside these there are `lengths`, `compression`, `pairs` (what could have been next), `differing` (two tokenizers) and
`audit`. Most of them can be drawn: `bpe.draw("race", race(history, text), "race.svg")`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bpe_core.counting.count_words import count_unmixed
from bpe_core.counting.words import WordTable
from bpe_core.data_table import DataTable
from bpe_core.errors import BpeError
from bpe_core.exact import of_run, of_texts, of_trees
from bpe_core.exact.tokens import TokenColumns
from bpe_core.history.given import Learned, documents_of, history_of, numbers_of
from bpe_core.history.history import History
from bpe_core.insight.audit import TokenPlaces
from bpe_core.insight.audit import audit as audited
from bpe_core.insight.audit_rows import AuditRows
from bpe_core.insight.audit_rows import table_of as audit_table
from bpe_core.insight.contributions import contributions
from bpe_core.insight.cut_words import CutWords
from bpe_core.insight.explanation import explain
from bpe_core.insight.leading_pairs import leading_pairs
from bpe_core.insight.race import most_dramatic
from bpe_core.insight.race import race as followed
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.insight.table_comparison import compare_tables
from bpe_core.insight.ties import ties as decided
from bpe_core.insight.token_life import token_life
from bpe_core.insight.why import Why, sentence
from bpe_core.learning.layout import count_symbols
from bpe_core.learning.methods import has_ranks, learns_by_ranks
from bpe_core.measures.bits_per_byte import bits_per_byte, tenth_apart
from bpe_core.measures.measured_sizes import measured_sizes
from bpe_core.measures.size_curves import size_curves
from bpe_core.text.corpus import Corpus
from bpe_core.token_texts import TokenTexts, shown

Text = str | Iterable[str]  # several documents are one text
RUNNERS = 5
AROUND = 12  # bytes before and after a place
ONLY_JOINS = "{} is told only where pairs are joined one after the other; not of this tokenizer."


def steps(learned: Learned) -> DataTable:
    """All steps, with all that is known of each: what was joined, its count, who would have been next."""
    history = history_of(learned)
    return of_run.steps(history, range(len(history)), _tokens(learned))


def ties(learned: Learned) -> DataTable:
    """The steps that a tie decided: what won, what lost, and when that won after all."""
    return of_run.tie_list(decided(history_of(learned)), _tokens(learned))


def ranks(learned: Learned, text: Text, *, at: int | None = None) -> DataTable:
    """Every token that stands in a text and how often, the most frequent first; after `at` steps, or all."""
    history = history_of(learned)
    after = _moment(history, at)
    cut = CutWords.of(_words(history, text), history.recipe, history)
    return of_run.ranks(cut.counts(after), _tokens(learned))


def sizes(learned: Learned, texts: Text | Mapping[str, Text]) -> DataTable:
    """What each size of the vocabulary means for each text: tokens, bytes per token, Rényi efficiency ..."""
    history = history_of(learned)
    named = texts if isinstance(texts, Mapping) else {"text": texts}
    curves: dict[str, of_texts.Curves] = {}
    for name, text in named.items():
        words = _words(history, text)
        if has_ranks(history):
            curves[name] = size_curves(words, history)
        else:
            curves[name] = measured_sizes(CutWords.of(words, history.recipe, history))
    return of_texts.sizes(curves)


def bits(learned: Learned, learned_from: Text, *, held_out: Text | None = None) -> DataTable:
    """Held-out bits per byte of a model of pairs of tokens, a row for each size that was measured, if it can be every.

    Without `held_out` a tenth is held out.
    """
    history = history_of(learned)
    words = _words(history, learned_from)
    both = tenth_apart(words) if held_out is None else (words, _words(history, held_out))
    return of_texts.bits({"text": bits_per_byte(*both, history)})


def race(learned: Learned, text: Text, which: Sequence[int] = ()) -> DataTable:
    """How often the pairs of these steps, counted from 1, stood in the text through the training; else some."""
    history = history_of(learned)
    ranked = _ranked(history, text, "A race of pairs")
    for step in which:
        _check_step(history, step)
    pairs = [history.pair(step - 1) for step in which] or most_dramatic(ranked, RUNNERS)
    return of_texts.race(followed(ranked, pairs).runners, _tokens(learned))


def lengths(learned: Learned, *, at: int | None = None) -> DataTable:
    """How many tokens of the vocabulary have how many bytes; after `at` steps, or all."""
    history = history_of(learned)
    then = history.first(_moment(history, at))
    return of_run.lengths(then, TokenColumns.for_history(then))


def compression(learned: Learned, learned_from: Text = ()) -> DataTable:
    """Of what it was learned from: after each step how many tokens it had, and base symbols a token.

    Where tokens are dropped only the text itself tells how many base symbols there are, so it must be given.
    """
    history = history_of(learned)
    if not history.only_joins and not learned_from:
        raise BpeError("Where tokens are dropped, compression is told of the text it was learned from: give it, too.")
    words = WordTable.from_counts({}) if history.only_joins else _words(history, learned_from)
    return of_run.compression(history, count_symbols(words, history.alphabet, history.recipe))


def pairs(learned: Learned, text: Text, *, at: int | None = None) -> DataTable:
    """All that could be done next after `at` steps, the best first; the text is what it was learned from."""
    history = history_of(learned)
    after = _moment(history, at)
    return of_run.pairs(leading_pairs(_words(history, text), history, after), history, after, _tokens(learned))


def tree(learned: Learned, word: str, *, at: int | None = None) -> DataTable:
    """Every token of a word's merge tree: the symbols it covers, and the step that made it."""
    history = history_of(learned)
    if not has_ranks(history):
        raise BpeError(ONLY_JOINS.format("A merge tree"))
    return of_trees.tree(Why(word, history).word_at(0), _moment(history, at), history, _tokens(learned))


def why(learned: Learned, text: str, *, at: int | None = None) -> DataTable:
    """Why a text is cut where it is: a row for each place between two bytes, with the steps it speaks of."""
    history = history_of(learned)
    after, data, names = _moment(history, at), text.encode(), TokenTexts.of(history).text.__getitem__
    places = range(1, len(data))
    if has_ranks(history):
        asked = Why(text, history)
        reasons = [asked.at_byte(byte, after) for byte in places]
        told: list[tuple[str, bool, str, tuple[int, ...]]] = [
            (one.kind, one.kind not in ("joined", "symbol"), sentence(one, names), one.steps) for one in reasons
        ]
    else:
        explained = explain(text, history, ())
        others = [explained(byte, after) for byte in places]
        told = [(one.kind, one.is_cut, one.sentence, tuple(one.steps)) for one in others]
    return DataTable(
        {
            "byte": list(places),
            "is_cut": [is_cut for _, is_cut, _, _ in told],
            "before": [shown(data[:byte][-AROUND:]) for byte in places],
            "after": [shown(data[byte:][:AROUND]) for byte in places],
            "kind": [kind for kind, _, _, _ in told],
            "reason": [reason for _, _, reason, _ in told],
            "step": [next(iter(steps), None) for _, _, _, steps in told],
            "taken_by": [steps[1] if len(steps) > 1 else None for _, _, _, steps in told],
        }
    )


def life(learned: Learned, text: Text, token: str | int) -> DataTable:
    """How often a token, named by what is written on it or by its id, stood in a text when, and before it its pair."""
    history = history_of(learned)
    ranked = _ranked(history, text, "The life of a token")
    columns, texts = _tokens(learned), TokenTexts.of(history)
    if isinstance(token, str):
        id = texts.id_of(token)
    else:
        id = next((own for own in range(len(texts.raw)) if columns.number(own) == token), None)
    if id is None:
        raise BpeError(f"There is no token {token!r}; write it as `ranks` does, with ␣ for a blank, or give its id.")
    found = token_life(ranked, id)
    before = () if found.before is None else found.before.stairs(found.curve.born)
    return of_texts.life(id, found.curve.stairs(), before, columns)


def paid(learned: Learned, text: Text, step: int) -> DataTable:
    """The words that held a pair when it was joined, those that paid most first."""
    history = history_of(learned)
    _check_step(history, step)
    ranked = _ranked(history, text, "What paid for a step")
    found = contributions(ranked, step).words
    words = [ranked.words.word(one.word) for one in found]
    return DataTable(
        {
            "text": list(map(shown, words)),
            "hex": [word.hex(" ") for word in words],
            "times": [one.times for one in found],
            "count": [one.count for one in found],
        }
    )


def differing(one: Learned, other: Learned) -> DataTable:
    """The merges that do not stand at the same place in two tokenizers, and where they stand in each."""
    sides = [(history_of(side), numbers_of(side)) for side in (one, other)]
    found = compare_tables(sides[0][0], sides[1][0]).differing
    return of_texts.differing(found, *sides)


def audit(learned: Learned, texts: Text | Mapping[str, Text] | None = None) -> DataTable:
    """The tokens that deserve a second look, and why: by their use in texts, too, where these are given."""
    history = history_of(learned)
    named = {} if texts is None else texts if isinstance(texts, Mapping) else {"text": texts}
    tables = [_words(history, text) for text in named.values()]
    found = audited(history, TokenPlaces.of(tables, history) if tables else None)
    rows = AuditRows(history, found, numbers_of(learned), list(named))
    return audit_table(map(rows.row, found.ids(*found.meets)))


def _tokens(learned: Learned) -> TokenColumns:
    """By the ids of the file, where it came from one."""
    return TokenColumns.for_history(history_of(learned), numbers_of(learned))


def _moment(history: History, at: int | None) -> int:
    if at is not None and not 0 <= at <= len(history):
        raise BpeError(f"There are {len(history):,} steps; `at` is a number from 0 to that, not {at:,}.")
    return len(history) if at is None else at


def _check_step(history: History, step: int) -> None:
    if not 1 <= step <= len(history):
        raise BpeError(f"There is no step {step:,}; there are {len(history):,}, counted from 1.")


def _ranked(history: History, text: Text, what: str) -> RankedWords:
    if not learns_by_ranks(history):
        raise BpeError(ONLY_JOINS.format(what))
    return RankedWords.of(_words(history, text), history)


def _words(history: History, text: Text) -> WordTable:
    return count_unmixed(Corpus.from_texts(documents_of(text)), history.recipe)
