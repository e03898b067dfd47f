"""Tests of weighted sums in a benchmark, and of their intervals. Plain code computes the same sums."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.errors import BpeError

CHANCE = random.Random(7)
WORDS = {
    "sea": ["wave", "harbour", "keeper", "lighthouse", "storm", "ship", "log"],
    "code": ["def", "return", "self", "import", "value"],
}


def documents(kind: str, count: int, length: int = 12) -> list[str]:
    return [" ".join(CHANCE.choices(WORDS[kind], k=length)) for _ in range(count)]


@pytest.fixture(scope="module")
def texts() -> dict[str, list[str]]:
    return {"sea": documents("sea", 60), "code": documents("code", 80)}


@pytest.fixture(scope="module")
def studies(texts: dict[str, list[str]]) -> dict[str, bpe.Study]:
    return {
        "of sea": bpe.train(texts["sea"], "gpt2", vocab_size=300),
        "of code": bpe.train(texts["code"], "gpt2", vocab_size=300),
    }


def recommendation(answer: bpe.Answer) -> str:
    return next(sentence for sentence in answer.sentences if sentence.startswith("Recommended: "))


def test_the_benchmark_computes_the_weighted_mean_of_tokens_per_byte_for_each_tokenizer(
    studies: dict[str, bpe.Study], texts: dict[str, list[str]]
) -> None:
    answer = bpe.benchmark(studies, texts=texts, weights=("sea=25%", "code=75%"))
    for row in answer.facts["sums"]:
        study = studies[row["tokenizer"]]
        expected = 0.0
        for name, share in (("sea", 0.25), ("code", 0.75)):
            tokens = sum(len(study.encode(document)) for document in texts[name])
            expected += share * tokens / sum(len(document.encode()) for document in texts[name])
        assert row["bytes_per_token"] == pytest.approx(1 / expected)
        assert row["from"] < row["bytes_per_token"] < row["to"]
    assert answer.facts["weights"] == {"sea": 0.25, "code": 0.75}


def test_the_benchmark_recommends_the_tokenizer_with_the_fewest_tokens_for_the_given_text_weights(
    studies: dict[str, bpe.Study], texts: dict[str, list[str]]
) -> None:
    sea = bpe.benchmark(studies, texts=texts, weights=("sea=3", "code=1"))
    assert sea.sentences[0].startswith("Over all texts (sea 75 %, code 25 %) of sea makes the fewest tokens: ")
    assert "For code alone, of code makes fewer tokens." in sea.sentences
    assert recommendation(sea) == "Recommended: of sea."
    code = bpe.benchmark(studies, texts=texts, weights=("sea=0", "code=1"))
    assert recommendation(code) == "Recommended: of code."


def test_benchmark_texts_without_weights_are_weighted_by_bytes(
    studies: dict[str, bpe.Study], texts: dict[str, list[str]]
) -> None:
    answer = bpe.benchmark(studies, texts=texts, sums=True)
    table = answer.columns
    for row in answer.facts["sums"]:
        chosen = [place for place, name in enumerate(table["tokenizer"]) if name == row["tokenizer"]]
        size, tokens = (sum(int(table[name][place]) for place in chosen) for name in ("bytes", "tokens"))
        assert row["bytes_per_token"] == pytest.approx(size / tokens)


def test_the_benchmark_does_not_rank_tables_whose_difference_is_unclear(texts: dict[str, list[str]]) -> None:
    """Two tables learned from two halves of the same documents differ only by chance."""
    sea = documents("sea", 400)
    halves = {"one": bpe.train(sea[::2], "gpt2", vocab_size=290), "other": bpe.train(sea[1::2], "gpt2", vocab_size=290)}
    fresh = documents("sea", 30)
    answer = bpe.benchmark(halves, texts={"fresh": fresh}, sums=True)
    second = max(answer.facts["sums"], key=lambda row: row["tokens_beside_best"])
    if second["tokens_beside_best"] > 1 and second["beside_from"] > 1:
        pytest.skip("these halves happen to differ in kind")
    assert "equally. These texts do not show which tokenizer is better" in recommendation(answer)


def test_about_95_percent_of_benchmark_intervals_contain_the_true_value(studies: dict[str, bpe.Study]) -> None:
    """The true value is measured on 4,000 documents, and each interval on 60 other documents of the same source."""
    many_documents = documents("sea", 4_000)
    study = studies["of sea"]
    truth = sum(len(text.encode()) for text in many_documents) / sum(len(study.encode(text)) for text in many_documents)
    covered = 0
    for _ in range(60):
        row = bpe.benchmark({"it": study}, texts={"sea": documents("sea", 60)}, sums=True).facts["sums"][0]
        covered += row["from"] <= truth <= row["to"]
    assert 50 <= covered <= 60


def test_the_interval_contains_the_value_even_if_line_ends_are_parts_of_tokens() -> None:
    """In the pattern “english”, a line end and the next word are one word, so a line alone has other tokens."""
    whole = "\n".join(documents("sea", 200, length=3))
    studies = {size: bpe.train(whole, "gpt2", pattern="english", vocab_size=int(size)) for size in ("290", "300")}
    for row in bpe.benchmark(studies, texts={"sea": whole}, sums=True).facts["sums"]:
        assert row["from"] < row["bytes_per_token"] < row["to"]
        assert row["beside_from"] <= row["tokens_beside_best"] <= row["beside_to"]


def test_the_benchmark_gives_no_interval_for_too_few_documents(studies: dict[str, bpe.Study]) -> None:
    answer = bpe.benchmark(studies, texts={"short": ["wave harbour def"]}, sums=True)
    assert all(row["from"] is None or np.isnan(row["from"]) for row in answer.facts["sums"])
    assert any("from too few documents to estimate the uncertainty" in sentence for sentence in answer.sentences)


def test_the_benchmark_does_not_recommend_a_tokenizer_that_cannot_encode_the_whole_text(
    texts: dict[str, list[str]], studies: dict[str, bpe.Study]
) -> None:
    narrow = bpe.train(["aaa bbb"], "wordpiece", vocab_size=8)
    answer = bpe.benchmark({"narrow": narrow, **studies}, texts=texts, sums=True)
    assert any("leave out more than 1% of a text: narrow." in sentence for sentence in answer.sentences)
    assert "narrow" not in recommendation(answer)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (("sea=60%", "code=30%"), "must add up to 100 %, not to 90 %"),
        (("fish=1",), "The texts are sea, code"),
        (("1",), "The texts are sea, code"),
        (("sea=-1", "code=2"), "of at least 0"),
        (("sea=1", "code=1", "sea=2"), "names 'sea' twice"),
        (("sea=0",), "at least one weight must be above 0"),
    ],
)
def test_impossible_benchmark_weights_are_refused_with_an_error_message(
    weights: tuple[str, ...], sentence: str, studies: dict[str, bpe.Study], texts: dict[str, list[str]]
) -> None:
    with pytest.raises(BpeError, match=sentence):
        bpe.benchmark(studies, texts=texts, weights=weights)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, studies: dict[str, bpe.Study]) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("dom").mkdir()
    for kind in WORDS:
        Path("dom", f"multi-{kind}.txt").write_text("\n".join(documents(kind, 40)))
    studies["of sea"].save("a.csv")
    studies["of code"].save("b.json")
    return tmp_path


ASKED = ["benchmark", "ours=a.csv", "theirs=b.json", "--texts", "dom", "--weights", "sea=70%", "multi-code=30%"]


def test_the_benchmark_command_uses_given_names_and_writes_a_report_page(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*ASKED, "--report", "out.html", "-o", "out.svg"]) == 0
    assert "Recommended: ours." in capsys.readouterr().out
    page = Path("out.html").read_text()
    assert "<h1>Benchmark</h1>" in page
    for part in ("ours, theirs.", "Recommended: ours.", "<h2>Sums</h2>", "<svg", "<h2>All rows</h2>", "dom/multi-code"):
        assert part in page, part
    drawn = Path("out.svg").read_text()
    assert all(f">{label}<" in drawn for label in ("code", "sea", "ours", "theirs"))  # not "dom/mul…" twice


def test_the_report_page_of_a_benchmark_without_weights_also_has_a_section_of_sums(folder: Path) -> None:
    assert run(["benchmark", "ours=a.csv", "--texts", "dom", "--report", "out.html"]) == 0
    assert "<h2>Sums</h2>" in Path("out.html").read_text()


def test_a_question_command_can_write_a_report_page(folder: Path) -> None:
    assert run(["lengths", "a.csv", "--report", "out.html"]) == 0
    assert "<h1>Lengths</h1>" in Path("out.html").read_text()


def test_the_manifest_of_a_benchmark_names_the_tables_and_the_report_page(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*ASKED, "--report", "out.html", "--manifest", "how.json"]) == 0
    manifest = json.loads(Path("how.json").read_text())
    assert {file["path"] for file in manifest["inputs"]} >= {"a.csv", "b.json"}
    assert [file["path"] for file in manifest["results"]] == ["out.html"]
    assert run(["benchmark", "ours=a.csv", "--texts", "dom", "--report", "a.csv"]) == 1
    assert "a.csv is the input file" in capsys.readouterr().err
