"""Tests of the question that grades student results: correct results pass, and the message names each
common mistake.
"""

from __future__ import annotations

import base64
import json
import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.errors import BpeError, FormatError
from bpe_core.formats.submissions import merges_in, submission_in
from bpe_core.insight.exercise_rules import EXERCISES, GPT4, words_of
from bpe_core.insight.grading import Grader, grade_merges
from bpe_core.insight.trainer_by_rules import learn_merges
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.plain_pickle import values_of
from tests.shared import ROOT

END = "<|endoftext|>"
# The pattern that students usually copy.
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
MERGES = 90
Merge = tuple[bytes, bytes]
TEXT = (
    "".join((ROOT / "tests/texts" / name).read_text()[:1_500] for name in ("prose.txt", "poem.txt"))
    + f"yes{END}" * 30
    + f"it's{END}aaa aaaa aaaaa   banana  bananas\r\n\tdef f():\r\n\t\treturn aaa{END}She SAW the Sea, the SEA.\n" * 4
)
OTHER = (ROOT / "tests/texts/code.txt").read_text()[:2_500] + END + "yes yes no\n" * 3


def train_with_mistake(
    text: str,
    *,
    pattern: str = GPT2,
    specials: str = "out",
    tie: Callable[[Merge], Any] = lambda pair: pair,
    met: str = "",
    lines: Callable[[str], list[str]] = lambda part: [part],
    join: Callable[[list[bytes], Merge], list[bytes]] | None = None,
    overlaps: bool = True,
    update: Callable[[dict[Merge, int], dict[Merge, int]], dict[Merge, int]] | None = None,
    weighs: bool = True,
    characters: bool = False,
    merges: int = MERGES,
    least: int = 1,
) -> list[Merge]:
    """Train as a student's program would, with a parameter for each mistake.

    The code is independent of our trainers. After each merge, all pairs are counted again. `update` makes the
    counts from the previous counts and the new counts.
    """
    words = count_words(text, pattern, specials, lines)
    if not weighs:
        words = Counter(dict.fromkeys(words, 1))
    splits = {word: split_word(word, characters=characters) for word in words}
    join = join or partial(join_pair, side="left")
    made: list[Merge] = []
    counts: dict[Merge, int] = {}
    while len(made) < merges:
        fresh = count_pairs(splits, words, overlaps=overlaps)
        counts = update(counts, fresh) if update is not None and made else fresh
        most = max(counts.values(), default=0)
        if not counts or most < least:
            break
        best = [pair for pair, count in counts.items() if count == most]
        chosen = best[0] if met == "first" else best[-1] if met == "last" else max(best, key=tie)
        made.append(chosen)
        counts.pop(chosen)
        splits = {word: join(symbols, chosen) for word, symbols in splits.items()}
    return made


def count_words(
    text: str, pattern: str, specials: str, lines: Callable[[str], list[str]] = lambda part: [part]
) -> Counter[str]:
    if specials == "deleted":
        text = text.replace(END, "")
    parts = {"out": text.split(END), "as words": regex.split(f"({regex.escape(END)})", text)}.get(specials, [text])
    words: Counter[str] = Counter()
    for part in parts:
        if part == END:
            words[part] += 1
            continue
        for line in lines(part):
            words.update(word for word in (regex.findall(pattern, line) if pattern else [line]) if word)
    return words


def split_word(word: str, *, characters: bool = False) -> list[bytes]:
    return [letter.encode() for letter in word] if characters else [bytes([byte]) for byte in word.encode()]


def count_pairs(splits: dict[str, list[bytes]], words: Counter[str], *, overlaps: bool = True) -> dict[Merge, int]:
    counts: dict[Merge, int] = {}
    for word, symbols in splits.items():
        last = None
        for pair in pairwise(symbols):
            if not overlaps and pair == last:
                last = None
                continue
            counts[pair] = counts.get(pair, 0) + words[word]
            last = pair
    return counts


def join_pair(symbols: list[bytes], pair: Merge, side: str) -> list[bytes]:
    places = [place for place, neighbours in enumerate(pairwise(symbols)) if neighbours == pair]
    taken: list[int] = []
    for place in places if side == "left" else reversed(places):
        if all(abs(place - other) > 1 for other in taken):
            taken.append(place)
    return [
        symbol + symbols[place + 1] if place in taken else symbol
        for place, symbol in enumerate(symbols)
        if place - 1 not in taken
    ]


def join_once(symbols: list[bytes], pair: Merge) -> list[bytes]:
    for place in range(len(symbols) - 1):
        if (symbols[place], symbols[place + 1]) == pair:
            return [*symbols[:place], pair[0] + pair[1], *symbols[place + 2 :]]
    return symbols


def join_by_replacing_text(symbols: list[bytes], pair: Merge) -> list[bytes]:
    spaced = " ".join(symbol.hex() for symbol in symbols)
    return [
        bytes.fromhex(part)
        for part in spaced.replace(f"{pair[0].hex()} {pair[1].hex()}", "".join(map(bytes.hex, pair))).split()
    ]


def train_with_kept_counts(text: str, *, weighs: bool = True, first: bool = False) -> list[Merge]:
    """Train with stored pair counts that are updated after each merge. Fast programs work in this way."""
    words = count_words(text, GPT2, "out")
    splits = {word: split_word(word) for word in words}
    counts = count_pairs(splits, words)
    made: list[Merge] = []
    while len(made) < MERGES:
        most = max(counts.values())
        best = [pair for pair, count in counts.items() if count == most]
        made.append(best[0] if first else max(best))
        for word, symbols in splits.items():
            joined = join_pair(symbols, made[-1], "left")
            if joined != symbols:
                for pair in pairwise(symbols):
                    counts[pair] -= words[word] if weighs else 1
                for pair in pairwise(joined):
                    counts[pair] = counts.get(pair, 0) + (words[word] if weighs else 1)
                for pair in pairwise(symbols):
                    if counts.get(pair) == 0:
                        del counts[pair]
                splits[word] = joined
        if not weighs:
            counts.pop(made[-1], None)
    return made


def stripped_lines(part: str) -> list[str]:
    return [line.strip() for line in part.split("\n")]


def sort_key_of_smaller_pair(pair: Merge) -> tuple[list[int], ...]:
    """Return a sort key with which max() chooses the smaller pair. The end of a token sorts after all bytes."""
    return tuple([*(-byte for byte in token), 1] for token in pair)


def as_letters(token: bytes) -> str:
    """Write the bytes of a token in byte characters, as GPT-2's program does."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return "".join(chr(byte) if byte in printable else chr(256 + others.index(byte)) for byte in token)


def lower_only(old: dict[Merge, int], fresh: dict[Merge, int]) -> dict[Merge, int]:
    return {pair: min(count, fresh[pair]) for pair, count in old.items() if fresh.get(pair)}


def never_lower(old: dict[Merge, int], fresh: dict[Merge, int]) -> dict[Merge, int]:
    return {pair: max(fresh.get(pair, 0), old.get(pair, 0)) for pair in old | fresh}


Trainer = Callable[[str], list[Merge]]
t = train_with_mistake
WRONG: dict[str, tuple[Trainer, str]] = {
    "first met": (partial(t, met="first"), "pair that occurs first"),
    "last met": (partial(t, met="last"), "pair that occurs last"),
    "first counted": (partial(train_with_kept_counts, first=True), "first to be put into the table of counts"),
    "smaller pair": (partial(t, tie=sort_key_of_smaller_pair), "lexicographically smaller pair"),
    "greater letters": (partial(t, tie=lambda pair: tuple(map(as_letters, pair))), "in GPT-2's byte characters"),
    "greater joined text": (partial(t, tie=lambda pair: pair[0] + pair[1]), "whose joined text is greater"),
    "specials in the text": (partial(t, specials="in"), "Special tokens are not taken out"),
    "specials deleted": (partial(t, specials="deleted"), "is joined with the text after it"),
    "specials as words": (partial(t, specials="as words"), "Special tokens are counted as words"),
    "counts not lowered": (partial(t, update=never_lower), "next to a merge are not lowered"),
    "new pairs not counted": (partial(t, update=lower_only), "pairs with the new token are not counted"),
    "counted only once": (partial(t, update=lambda old, fresh: old), "counted only once, before the first merge"),
    "counts without weights": (partial(train_with_kept_counts, weighs=False), "changes by one for each word"),
    "merged again and again": (lambda text: train_with_mistake(text, merges=1) * MERGES, "again and again"),
    "merges aaa from the right": (partial(t, join=partial(join_pair, side="right")), "merges aaa from the right"),
    "merges once a word": (partial(t, join=join_once), "Only the first occurrence"),
    "replaces text": (partial(t, join=join_by_replacing_text), "Merges replace text"),
    "overlaps once": (partial(t, overlaps=False), "counts the pair aa once"),
    "characters": (partial(t, characters=True), "made of characters"),
    "no words": (partial(t, pattern="", merges=30), "Pairs cross words"),
    "no lookahead": (partial(t, pattern=GPT2.replace(r"|\s+(?!\S)", "")), "lacks its lookahead"),
    "no contractions": (partial(t, pattern=GPT2.partition(")|")[2]), "for contractions"),
    "pattern of GPT-4": (partial(t, pattern=GPT4), "by the pattern of GPT-4"),
    "white space dropped": (partial(t, pattern=r"\S+"), "the white space is dropped"),
    "lines without ends": (
        partial(t, lines=lambda part: part.split("\n")),
        "Lines are trained one by one, without their ends",
    ),
    "lines with ends": (partial(t, lines=lambda part: part.splitlines(keepends=True)), "each with its end"),
    "CR LF lost": (lambda text: train_with_mistake(text.replace("\r\n", "\n")), "CR LF changed to LF"),
    "CR LF made": (lambda text: train_with_mistake(text.replace("\n", "\r\n")), "LF changed to CR LF"),
    "lower case": (lambda text: train_with_mistake(text.lower()), "lower-case"),
    "lines stripped": (partial(t, lines=stripped_lines), "without the spaces around them"),
    "ends as spaces": (lambda text: train_with_mistake(text.replace("\n", " ")), "ends of lines become spaces"),
    "white space before words": (partial(t, pattern=r"\s*\S+|\s+"), "before white space only"),
    "ASCII": (lambda text: train_with_mistake(text.encode("ascii", "ignore").decode()), "not ASCII"),
    "words once": (partial(t, weighs=False), "Each different word is counted once"),
    "one too few": (partial(t, merges=MERGES - 1), "1 merge too few"),
    "one too many": (partial(t, merges=MERGES + 1), "1 merge too many"),
    "bytes not counted": (partial(t, merges=MERGES + 256), "bytes were probably not counted"),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_the_grade_question_identifies_the_mistake_of_each_faulty_trainer(mistake: str) -> None:
    train, cause = WRONG[mistake]
    grade = grade_merges(TEXT, train(TEXT), EXERCISES["cs336"], MERGES)
    assert not grade.is_right
    assert cause in grade.cause


@pytest.mark.parametrize("text", [TEXT, OTHER, "aaa aaaa\n", "é è ê\n" * 5], ids=["mixed", "code", "tiny", "accents"])
@pytest.mark.parametrize(
    ("exercise", "rules"),
    [
        ("cs336", {}),
        ("minbpe", {"pattern": GPT4, "specials": "in", "met": "first"}),
        ("minbpe-basic", {"pattern": "", "specials": "in", "met": "first", "merges": 20}),
        ("hf", {"met": "first", "specials": "in"}),
        ("cs336", {"merges": 7}),
    ],
)
def test_the_grade_question_accepts_every_correct_trainer(text: str, exercise: str, rules: dict[str, Any]) -> None:
    merges = train_with_mistake(text, **rules)
    assert grade_merges(text, merges, EXERCISES[exercise]).is_right


def test_the_grade_question_accepts_a_correct_trainer_that_updates_its_counts_after_each_merge() -> None:
    assert grade_merges(TEXT, train_with_kept_counts(TEXT), EXERCISES["cs336"], MERGES).is_right


@given(st.text("ab '\n", min_size=2, max_size=60), st.sampled_from(["cs336", "minbpe", "minbpe-basic", "hf"]))
def test_the_grade_question_accepts_merges_learned_by_the_rules_of_the_exercise(text: str, exercise: str) -> None:
    rules = EXERCISES[exercise].rules
    met = "first" if rules.tie == "first met" else ""
    merges = train_with_mistake(text, pattern=rules.texts.pattern, met=met, merges=30)
    assert [*islice(learn_merges(words_of([text], rules.texts), rules), 30)] == merges
    assert not merges or grade_merges(text, merges, EXERCISES[exercise]).is_right


@pytest.mark.parametrize("train", [train_with_mistake, partial(train_with_mistake, met="first")])
def test_the_grade_question_compares_only_tokens_if_the_submission_is_a_vocabulary(train: Trainer) -> None:
    merges = train(TEXT)
    ids = {as_letters(left + right): 256 + place for place, (left, right) in enumerate(merges)}
    vocabulary = {as_letters(bytes([byte])): byte for byte in range(256)} | ids | {END: 5_000}
    submission = submission_in(json.dumps(vocabulary).encode(), "vocab.json")
    assert submission.is_vocabulary
    grade = Grader([TEXT], EXERCISES["cs336"]).grade(submission.merges, is_vocabulary=True)
    assert grade.is_right == (train is train_with_mistake)
    assert grade.is_right or "occurs first" in grade.cause


@pytest.mark.parametrize(("least", "cause"), [(2, "ends when every pair occurs only once"), (1, "")])
def test_the_grade_question_reports_that_training_ended_at_pairs_that_occur_once(least: int, cause: str) -> None:
    text = "low low lower newer\n"
    merges = train_with_mistake(text, merges=12, least=least)
    grade = grade_merges(text, merges, EXERCISES["cs336"], 12)
    assert cause in grade.cause
    assert grade.is_right == (least == 1)


def test_the_grade_question_works_if_a_tested_mistake_would_remove_the_whole_text() -> None:
    text = "你好 你好 世界 你好\n"  # without its characters that are not ASCII, nothing is left to learn
    merges = train_with_mistake(text, merges=3)
    assert grade_merges(text, [merges[0], *merges], EXERCISES["cs336"]).right_until == 1


def test_the_grade_question_expects_no_more_merges_than_the_text_allows() -> None:
    merges = train_with_mistake("low low", merges=1_000)
    assert len(merges) < 10
    assert grade_merges("low low", merges, EXERCISES["cs336"], 1_000).is_right


def test_the_grade_question_recognizes_merges_learned_from_a_different_text() -> None:
    grade = grade_merges(TEXT, train_with_mistake(OTHER), EXERCISES["cs336"])
    assert grade.cause.startswith("The merges were probably learned from another text")


def test_the_grade_question_gives_no_cause_for_a_merge_that_no_known_mistake_explains() -> None:
    merges = train_with_mistake(TEXT, merges=5)
    grade = grade_merges(TEXT, [*merges[:4], (b"q", b"q")], EXERCISES["cs336"])
    assert (grade.right_until, grade.expected, grade.found) == (4, merges[4], (b"q", b"q"))
    assert grade.cause == ""


# --- Files -------------------------------------------------------------------------------------

PAIRS = [(b"t", b"h"), (b" ", b"th"), (b" th", b"e")]
RANKS = {bytes([byte]): byte for byte in range(256)} | {b"th": 256, b" th": 257, b" the": 258}
FILES: dict[str, bytes] = {
    "lists of texts": json.dumps([["t", "h"], ["Ġ", "th"], ["Ġth", "e"]]).encode(),
    "texts with a space": json.dumps(["t h", "Ġ th", "Ġth e"]).encode(),
    "lists of bytes": json.dumps([[[116], [104]], [[32], [116, 104]], [[32, 116, 104], [101]]]).encode(),
    "ids": json.dumps([[116, 104], [32, 256], [257, 101]]).encode(),
    "a dictionary with merges": json.dumps({"vocab": {}, "merges": [["t", "h"], ["Ġ", "th"], ["Ġth", "e"]]}).encode(),
    "a tokenizer.json": json.dumps({"model": {"merges": ["t h", "Ġ th", "Ġth e"]}}).encode(),
    "merges.txt": "#version: 0.2\nt h\nĠ th\nĠth e\n".encode(),
    "repr of bytes": "\n".join(f"({left!r}, {right!r})" for left, right in PAIRS).encode(),
    "minbpe": b"minbpe v1\n\n1\n<|x|> 300\n116 104\n32 256\n257 101\n",
    "a Python list in one line": repr(PAIRS).encode(),
    "reprs in JSON": json.dumps([[repr(left), repr(right)] for left, right in PAIRS]).encode(),
    "ids in lines": b"116 104\n32 256\n257 101\n",
    "pairs of ids in lines": b"(116, 104)\n(32, 256)\n(257, 101)\n",
    "a dictionary of pairs of ids as texts": json.dumps(
        {"(116, 104)": 256, "(32, 256)": 257, "(257, 101)": 258}
    ).encode(),
    "a dictionary of merges as texts": json.dumps({"merges": {"116,104": 256, "32,256": 257, "257,101": 258}}).encode(),
    "a pickle of the course's dictionary": pickle.dumps({("t", "h"): "th", ("Ġ", "th"): "Ġth", ("Ġth", "e"): "Ġthe"}),
    "a pickle of pairs": pickle.dumps(PAIRS),
    "an old pickle of ids": pickle.dumps([(116, 104), (32, 256), (257, 101)], 0),
    "an old pickle of texts": pickle.dumps([("t", "h"), ("Ġ", "th"), ("Ġth", "e")], 1),
    "a pickle of vocabulary and merges": pickle.dumps(({0: b"a"}, PAIRS)),
    "a pickle of minbpe's dictionary": pickle.dumps({(116, 104): 256, (32, 256): 257, (257, 101): 258}),
    "tiktoken": b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for token, rank in RANKS.items()),
    "a pickle of rustbpe's ranks": pickle.dumps([*RANKS.items()]),
    "rustbpe's ranks in JSON": json.dumps([[[*token], rank] for token, rank in RANKS.items()]).encode(),
    "a pickle of ranks": pickle.dumps(RANKS),
    "a pickle of a vocabulary": pickle.dumps({rank: token for token, rank in RANKS.items()}),
    "a pickle of merges and vocabulary": pickle.dumps((PAIRS, {0: b"a"})),
    "vocab.json": json.dumps({"t": 0, "h": 1, "Ġ": 2, "e": 3, "th": 4, "Ġth": 5, "Ġthe": 6}).encode(),
}


@pytest.mark.parametrize("kind", FILES)
def test_the_grade_question_reads_merges_from_every_kind_of_result_file(kind: str) -> None:
    assert merges_in(FILES[kind], "result") == PAIRS


class Calls:
    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("called",)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pickle.dumps(Calls()), "the instruction (GLOBAL|STACK_GLOBAL|REDUCE).* is refused"),
        (pickle.dumps([b"a"] * 3)[:-3], "not a complete pickle"),
        (b"\x80\x04\x95", "not a complete pickle"),
        (json.dumps([[-1, 5]]).encode(), "joins the id -1, but before this merge"),
        (json.dumps([[10**9, 5]]).encode(), "joins the id 1,000,000,000"),
        (json.dumps({"a": "b"}).encode(), "holds no merges"),
        (b"[]", "holds no merges"),
        (b"", "is empty"),
        (b"[\\u0000] 0\n[\\u0001] 1\n", "the readable list that minbpe writes"),
        (pickle.dumps(print), "GLOBAL at byte .* for 'builtins.print', which is refused"),
        (b"one two three\n", "line 1 is not a pair"),
        (b"[1, 2", "not valid JSON"),
        (b"\xff\xfe\x00\x00", "not UTF-8 from byte 0 on"),
    ],
)
def test_the_grade_question_refuses_a_file_without_merges_with_an_error_message(
    data: bytes, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(FormatError, match=message):
        merges_in(data, "result")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_values_are_read_from_pickles_of_every_protocol(protocol: int) -> None:
    value: dict[Any, Any] = {"low": [1, -5, 2**70, 1.5, None, True], "é": ("a", ("b",), {}), 3: [[], ()]}
    assert values_of(pickle.dumps(value, protocol), "values") == value


# --- The question -------------------------------------------------------------------------------


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode())
    return path


def pairs_of_letters(merges: list[Merge]) -> Iterator[list[list[int]]]:
    return ([list(left), list(right)] for left, right in merges)


def test_grading_a_folder_of_submissions_gives_one_table(corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "submissions"
    folder.mkdir()
    (folder / "ada.json").write_text(json.dumps([*pairs_of_letters(train_with_mistake(TEXT))]))
    (folder / "bob.json").write_text(json.dumps([*pairs_of_letters(train_with_mistake(TEXT, met="first"))]))
    (folder / "eve.pkl").write_bytes(pickle.dumps(Calls()))
    answer = bpe.grade(str(folder), corpus=corpus, as_="cs336", vocab_size=256 + 1 + MERGES)
    assert list(answer.table.columns["verdict"]) == ["right", "wrong", "not read"]
    assert "occurs first" in answer.table.columns["cause"][1]
    assert answer.differs


def test_the_grade_command_reports_its_verdict_with_the_last_correct_merge_and_the_cause_as_json(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "merges.json"
    path.write_text(json.dumps([*pairs_of_letters(train_with_mistake(TEXT, update=never_lower))]))
    assert run(["grade", str(path), "--corpus", str(corpus), "--as", "cs336", "--json"]) == 3
    facts = json.loads(capsys.readouterr().out)
    assert facts["verdict"] == "wrong"
    assert facts["right_until"] > 0
    assert facts["cause"].startswith("Counts are outdated")


def test_the_grade_question_accepts_a_recipe_as_the_description_of_the_exercise(corpus: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.json"
    study = bpe.train(corpus, "gpt2", merges=20)
    recipe.write_text(study.history.recipe.to_json())
    path = tmp_path / "merges.txt"
    study.save(path)
    assert bpe.grade(str(path), corpus=corpus, as_=str(recipe)).facts["verdict"] == "right"


def test_the_grade_question_reports_merges_of_pairs_below_the_minimum_frequency(corpus: Path, tmp_path: Path) -> None:
    corpus.write_text("low low lower newer\n")
    recipe = tmp_path / "recipe.json"
    recipe.write_text(Recipe.preset("gpt2").with_changes(ties="largest-text", min_frequency=2).to_json())
    path = tmp_path / "merges.json"
    path.write_text(json.dumps([*pairs_of_letters(train_with_mistake("low low lower newer\n", merges=12))]))
    facts = bpe.grade(str(path), corpus=corpus, as_=str(recipe)).facts
    assert facts["cause"] == "Pairs that occur fewer than 2 times are merged, too."


@pytest.mark.parametrize("ending", ["csv", "json", "bpex"])
def test_the_grade_question_takes_the_recipe_of_an_exercise_from_a_run_file(
    corpus: Path, tmp_path: Path, ending: str
) -> None:
    run_file = tmp_path / f"run.{ending}"
    assert run(["train", str(corpus), "--merges", "20", "--ties", "largest-text", "-o", str(run_file), "--quiet"]) == 0
    path = tmp_path / "merges.json"
    for specials, verdict in (("in", "right"), ("out", "wrong")):
        merges = train_with_mistake(TEXT, merges=20, specials=specials)
        path.write_text(json.dumps([*pairs_of_letters(merges)]))
        assert bpe.grade(str(path), corpus=corpus, as_=str(run_file)).facts["verdict"] == verdict


@pytest.mark.parametrize("content", ["{}x", "[]", "t h\nh e\n"])
def test_the_grade_question_refuses_a_file_without_a_recipe(corpus: Path, tmp_path: Path, content: str) -> None:
    (tmp_path / "merges.json").write_text("[[1, 2]]")
    (tmp_path / "rules.txt").write_text(content)
    with pytest.raises(BpeError, match="Name an exercise"):
        bpe.grade(str(tmp_path / "merges.json"), corpus=corpus, as_=str(tmp_path / "rules.txt"))


def test_the_grade_question_uses_all_texts_of_the_exercise_to_judge_the_merges(tmp_path: Path) -> None:
    texts = {"first": "low lower lowest\n" * 3, "second": "new newer newest\n" * 5}
    path = tmp_path / "merges.json"
    path.write_text(json.dumps([*pairs_of_letters(train_with_mistake("".join(texts.values()), merges=12))]))
    assert bpe.grade(str(path), corpus=texts).facts["verdict"] == "right"
    assert bpe.grade(str(path), corpus=texts["first"]).facts["verdict"] == "wrong"
