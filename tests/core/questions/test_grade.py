"""Tests of grading: correct student results pass, and each common mistake is named."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import regex

import bpe_core as bpe
from bpe_core.errors import FormatError
from bpe_core.formats.submissions import merges_in
from bpe_core.insight.grading import EXERCISES, GPT4, grade_merges
from bpe_core.support.plain_pickle import values_of
from tests.shared import ROOT

END = "<|endoftext|>"
# The pattern that students usually copy.
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
MERGES = 90
Merge = tuple[bytes, bytes]
TEXT = (
    "".join((ROOT / "tests/texts" / name).read_text()[:1_500] for name in ("prose.txt", "poem.txt"))
    + f"{END}aaa aaaa aaaaa   banana  bananas\r\n\tdef f():\r\n\t\treturn aaa{END}She SAW the Sea, the SEA.\n" * 4
)
OTHER = (ROOT / "tests/texts/code.txt").read_text()[:2_500] + END + "yes yes no\n" * 3


def train_with_mistake(
    text: str,
    *,
    pattern: str = GPT2,
    specials: bool = True,
    tie: Callable[[Merge], Any] = lambda pair: pair,
    first: bool = False,
    lines: bool = False,
    join: str = "left",
    overlaps: bool = True,
    stale: bool = False,
    weighs: bool = True,
    merges: int = MERGES,
    least: int = 1,
) -> list[Merge]:
    """Train as a student's program would, with a parameter for each mistake. No code is shared with the program."""
    parts = text.split(END) if specials else [text]
    if lines:
        parts = [line for part in parts for line in part.split("\n")]
    words = Counter(word for part in parts for word in (regex.findall(pattern, part) if pattern else [part]) if word)
    if not weighs:
        words = Counter(dict.fromkeys(words, 1))
    splits = {word: [bytes([byte]) for byte in word.encode()] for word in words}
    made: list[Merge] = []
    counts: dict[Merge, int] = {}
    while len(made) < merges:
        fresh: dict[Merge, int] = {}
        for word, symbols in splits.items():
            last = None
            for pair in pairwise(symbols):
                if not overlaps and pair == last:
                    last = None
                    continue
                fresh[pair] = fresh.get(pair, 0) + words[word]
                last = pair
        counts = {pair: max(fresh.get(pair, 0), counts.get(pair, 0)) for pair in counts | fresh} if stale else fresh
        if not counts:
            break
        most = max(counts.values())
        if most < least:
            break
        best = [pair for pair, count in counts.items() if count == most]
        chosen = best[0] if first else max(best, key=tie)
        made.append(chosen)
        counts.pop(chosen)
        splits = {word: join_pair(symbols, chosen, join) for word, symbols in splits.items()}
    return made


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


def sort_key_of_smaller_pair(pair: Merge) -> tuple[list[int], ...]:
    """Order pairs so that max() takes the smaller pair. The end of a token sorts after all bytes."""
    return tuple([*(-byte for byte in token), 1] for token in pair)


WRONG: dict[str, tuple[Callable[[str], list[Merge]], str]] = {
    "first met": (lambda text: train_with_mistake(text, first=True), "pair that is met first"),
    "smaller pair": (
        lambda text: train_with_mistake(text, tie=sort_key_of_smaller_pair),
        "lexicographically smaller pair",
    ),
    "specials in the text": (lambda text: train_with_mistake(text, specials=False), "Special tokens are not taken out"),
    "stale counts": (lambda text: train_with_mistake(text, stale=True), "Counts go stale"),
    "merges aaa from the right": (lambda text: train_with_mistake(text, join="right"), "merges aaa from the right"),
    "overlaps once": (lambda text: train_with_mistake(text, overlaps=False), "counts the pair aa once"),
    "no words": (lambda text: train_with_mistake(text, pattern="", merges=30), "Pairs cross words"),
    "no lookahead": (
        lambda text: train_with_mistake(text, pattern=GPT2.replace(r"|\s+(?!\S)", "")),
        "lacks its lookahead",
    ),
    "lines without ends": (lambda text: train_with_mistake(text, lines=True), "Lines are trained one by one, without"),
    "CR LF lost": (lambda text: train_with_mistake(text.replace("\r\n", "\n")), "CR LF changed to LF"),
    "lower case": (lambda text: train_with_mistake(text.lower()), "lower-case"),
    "words once": (lambda text: train_with_mistake(text, weighs=False), "Each different word is counted once"),
    "one too few": (lambda text: train_with_mistake(text, merges=MERGES - 1), "1 merges too few"),
    "one too many": (lambda text: train_with_mistake(text, merges=MERGES + 1), "1 merges too many"),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_the_grade_question_names_the_mistake_of_each_wrong_trainer(mistake: str) -> None:
    train, cause = WRONG[mistake]
    grade = grade_merges(TEXT, train(TEXT), EXERCISES["cs336"], MERGES)
    assert not grade.is_right
    assert cause in grade.cause


@pytest.mark.parametrize("text", [TEXT, OTHER, "aaa aaaa\n", "é è ê\n" * 5], ids=["mixed", "code", "tiny", "accents"])
@pytest.mark.parametrize(
    ("exercise", "rules"),
    [
        ("cs336", {}),
        ("minbpe", {"pattern": GPT4, "specials": False, "first": True}),
        ("minbpe-basic", {"pattern": "", "specials": False, "first": True, "merges": 20}),
        ("hf", {"first": True, "specials": False}),
        ("cs336", {"merges": 7}),
    ],
)
def test_the_grade_question_accepts_every_correct_trainer(text: str, exercise: str, rules: dict[str, Any]) -> None:
    merges = train_with_mistake(text, **rules)
    assert grade_merges(text, merges, EXERCISES[exercise]).is_right


def test_the_grade_question_gives_no_cause_for_a_merge_that_no_known_mistake_explains() -> None:
    merges = train_with_mistake(TEXT, merges=5)
    grade = grade_merges(TEXT, [*merges[:4], (b"q", b"q")], EXERCISES["cs336"])
    assert (grade.right_until, grade.expected, grade.found) == (4, merges[4], (b"q", b"q"))
    assert grade.cause == ""


# --- Files -------------------------------------------------------------------------------------

PAIRS = [(b"t", b"h"), (b" ", b"th"), (b" th", b"e")]
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
    "a pickle of pairs": pickle.dumps(PAIRS),
    "a pickle of vocabulary and merges": pickle.dumps(({0: b"a"}, PAIRS)),
    "a pickle of minbpe's dictionary": pickle.dumps({(116, 104): 256, (32, 256): 257, (257, 101): 258}),
    "vocab.json": json.dumps({"t": 0, "h": 1, "Ġ": 2, "e": 3, "th": 4, "Ġth": 5, "Ġthe": 6}).encode(),
}


@pytest.mark.parametrize("kind", FILES)
def test_the_grade_question_reads_merges_from_every_kind_of_result_file(kind: str) -> None:
    merges = merges_in(FILES[kind], "result")
    assert [left + right for left, right in merges] == [left + right for left, right in PAIRS]
    if kind != "vocab.json":  # whose merges are guessed
        assert merges == PAIRS


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
        (b"one two three\n", "line 1 is not a pair"),
        (b"[1, 2", "not valid JSON"),
        (b"\xff\xfe\x00\x00", "not UTF-8 from byte 0 on"),
    ],
)
def test_the_grade_question_refuses_a_file_without_merges_in_a_sentence(
    data: bytes, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(FormatError, match=message):
        merges_in(data, "result")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_plain_values_of_every_pickle_protocol_are_read(protocol: int) -> None:
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
    (folder / "bob.json").write_text(json.dumps([*pairs_of_letters(train_with_mistake(TEXT, first=True))]))
    (folder / "eve.pkl").write_bytes(pickle.dumps(Calls()))
    answer = bpe.grade(str(folder), corpus=corpus, as_="cs336", vocab_size=256 + 1 + MERGES)
    assert list(answer.table.columns["verdict"]) == ["right", "wrong", "not read"]
    assert "met first" in answer.table.columns["cause"][1]
    assert answer.differs


def test_the_grade_command_reports_the_verdict_the_last_correct_merge_and_the_cause_as_json(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from bpe_core.command_line.main import run

    path = tmp_path / "merges.json"
    path.write_text(json.dumps([*pairs_of_letters(train_with_mistake(TEXT, stale=True))]))
    assert run(["grade", str(path), "--corpus", str(corpus), "--as", "cs336", "--json"]) == 3
    facts = json.loads(capsys.readouterr().out)
    assert facts["verdict"] == "wrong"
    assert facts["right_until"] > 0
    assert facts["cause"].startswith("Counts go stale")


def test_the_grade_question_accepts_a_recipe_as_the_description_of_the_exercise(corpus: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.json"
    study = bpe.train(corpus, "gpt2", merges=20)
    recipe.write_text(study.history.recipe.to_json())
    path = tmp_path / "merges.txt"
    study.save(path)
    assert bpe.grade(str(path), corpus=corpus, as_=str(recipe)).facts["verdict"] == "right"


def test_the_grade_question_learns_from_all_texts_of_the_exercise(tmp_path: Path) -> None:
    texts = {"first": "low lower lowest\n" * 3, "second": "new newer newest\n" * 5}
    path = tmp_path / "merges.json"
    path.write_text(json.dumps([*pairs_of_letters(train_with_mistake("".join(texts.values()), merges=12))]))
    assert bpe.grade(str(path), corpus=texts).facts["verdict"] == "right"
    assert bpe.grade(str(path), corpus=texts["first"]).facts["verdict"] == "wrong"
