"""Tests of the question `ends`. It counts word ends inside tokens, and shortens prompts by token healing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.errors import BpeError, Cancelled
from bpe_core.support.progress import Work
from bpe_core.text.word_ends import words_of
from tests.shared import text_of

TEXT = text_of("prose")[:6_000]
BY_WORDS = bpe.train(TEXT, "gpt2", vocab_size=400)


def ends_inside(study: bpe.Study, text: str) -> tuple[int, int]:
    """Count the words of a text, and the words whose end lies inside a token. Both counts use plain Python."""
    edges = {len(b"".join(study.tokens[id] for id in ids)) for ids in prefixes(study.encode(text))}
    ends = [len(text[:stop].encode()) for _, stop, _ in words_of(text)]
    return len(ends), sum(end not in edges for end in ends)


def prefixes(ids: list[int]) -> list[list[int]]:
    return [ids[:length] for length in range(1, len(ids) + 1)]


@pytest.mark.parametrize("method", ["superbpe", "boundless"])
def test_superword_tokens_contain_word_ends_and_word_tokens_contain_none(method: str) -> None:
    across = bpe.train(TEXT, "gpt2", method=method, vocab_size=400)
    text = TEXT[:1_500]
    answer = bpe.ends({"across": across.with_texts(text), "words": BY_WORDS.with_texts(text)})
    of_all = {row["tokenizer"]: row for row in answer.table.records() if row["kind"] == "all"}
    for name, study in (("across", across), ("words", BY_WORDS)):
        assert (of_all[name]["ends"], of_all[name]["inside_ends"]) == ends_inside(study, text)
    assert of_all["across"]["inside"] > 0.01
    assert of_all["words"]["inside"] == 0
    assert answer.facts["inside"]["across"] == of_all["across"]["inside"]


def test_for_a_text_without_spaces_the_ends_question_uses_characters_or_given_words_as_units(tmp_path: Path) -> None:
    lines = ["天气 很 好", "天气 不 好", "我们 去 北京", "我们 在 北京"]
    (tmp_path / "zh.txt").write_text("\n".join(lines), encoding="utf-8")
    text = "\n".join(lines).replace(" ", "")
    study = bpe.train([text] * 4, "gpt2", merges=40)
    by_characters = bpe.ends({"": study.with_texts(text)})
    by_words = bpe.ends({"": study}, words=[str(tmp_path / "zh.txt")])
    (row,) = (row for row in by_characters.table.records() if row["kind"] == "Han")
    assert row["ends"] == len(text) - 3
    assert by_words.table.records()[0]["ends"] == sum(len(line.split()) for line in lines)
    assert any("each character counts as a word" in sentence for sentence in by_characters.sentences)
    assert by_words.facts["inside"] < by_characters.facts["inside"]


def test_dividing_a_long_text_does_not_change_the_answer_about_word_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    from bpe_core.measures import inside_tokens

    text = text_of("code") + text_of("chinese") + TEXT
    whole = bpe.ends({"": BY_WORDS.with_texts(text)}).table.records()
    monkeypatch.setattr(inside_tokens, "PIECE", 500)
    assert bpe.ends({"": BY_WORDS.with_texts(text)}).table.records() == whole
    assert {"Latin", "Han", "names"} <= {row["kind"] for row in whole}


@pytest.mark.parametrize("prompt", ["the kee", "a ligh", "The hou", "x = se", "w"])
def test_the_ends_question_shortens_a_prompt_to_ids_that_stay_the_same_in_every_continuation(prompt: str) -> None:
    answer = bpe.ends({"": BY_WORDS}, text=prompt)
    ids = BY_WORDS.encode(prompt)
    assert answer.facts["ids"] == ids
    kept = answer.facts["kept"]
    assert ids[: len(kept)] == kept
    assert prompt.endswith(answer.facts["rest"])
    texts = {token: raw.decode(errors="replace") for token, raw in BY_WORDS.tokens.items()}
    backs = [0]
    for start in range(len(prompt)):  # plainly: each token at each place
        for token, text in texts.items():
            if text.startswith(prompt[start:]) and len(text) > len(prompt) - start and "�" not in text:
                longer = BY_WORDS.encode(prompt[:start] + text)
                if longer[-1] == token:
                    same = next((i for i, (a, b) in enumerate(zip(ids, longer, strict=False)) if a != b), len(ids))
                    backs.append(len(ids) - same)
    assert answer.facts["step_back"] == max(backs)


def test_the_ends_command_answers_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    BY_WORDS.save(tmp_path / "t.csv")
    (tmp_path / "a.txt").write_text("one two 3 get_it", encoding="utf-8")
    assert run(["ends", str(tmp_path / "t.csv"), "--corpus", str(tmp_path / "a.txt"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["inside"] == 0.0
    assert [row["kind"] for row in report["rows"]] == ["all", "Latin", "digits", "names"]


def test_the_ends_question_refuses_a_study_without_texts_and_can_be_cancelled(tmp_path: Path) -> None:
    alone = bpe.Study(BY_WORDS.history)
    with pytest.raises(BpeError, match="prompt with --text"):
        bpe.ends({"": alone})
    with pytest.raises(Cancelled):
        bpe.ends({"": BY_WORDS}, work=Work(cancelled=lambda: True))
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    with pytest.raises(BpeError, match="holds no words"):
        bpe.ends({"": alone}, words=[str(tmp_path / "empty.txt")])


@pytest.mark.parametrize("method", ["bpe", "superbpe", "boundless"])
def test_the_benchmark_and_the_sizes_question_measure_the_same_share_of_word_ends_inside_tokens(method: str) -> None:
    text = TEXT[:1_500].replace("'", "").replace("’", "")
    study = bpe.train(TEXT[:4_000], "gpt2", method=method, vocab_size=330).with_texts(text)
    by_size = bpe.sizes({"": study}, measure="inside").table.records()
    assert len(by_size) > 20
    for row in by_size[:: len(by_size) // 4]:
        then = bpe.Study(study.at(row["step"]).history).with_texts(text)
        (of_all,) = (end_row for end_row in bpe.ends({"": then}).table.records() if end_row["kind"] == "all")
        assert row["inside"] == pytest.approx(of_all["inside"])
    (row,) = bpe.benchmark({"": study}, {"a": text}, measure="inside").table.records()
    assert row["inside"] == by_size[-1]["inside"]
    assert "inside" not in bpe.benchmark({"": study}, {"a": text}).columns
