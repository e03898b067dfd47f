"""Tests of the shared page in a real browser: it encodes as the engine does, and reacts to clicks and keys.

The page never executes code that is contained in a text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest

import bpe_core as bpe
from app.window.text.colours import colours_in_row
from bpe_core.formats import FORMATS
from bpe_core.history.joining import MergePriorities, PairRows
from bpe_core.methods.bpe import BytePairEncoding
from bpe_core.methods.registry import METHODS
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.segmentation import Segmenter
from bpe_core.sharing.contents import SharedRun, contents_of, why_not
from bpe_core.sharing.page import page_of, with_different_titles
from resources import samples
from tests.browser import Browser, browser, needs_browser
from tests.core.formats.test_rwkv import HISTORY as RWKV_HISTORY
from tests.shared import available_texts, text_of

LANGUAGES = ("arabic", "chinese", "code", "cyrillic", "emoji", "greek", "hebrew", "indic", "japanese", "korean", "thai")
CORPUS = [text_of(name)[:3000] for name in (*LANGUAGES, "poem", "latin")]
POOLS = (
    [*range(0x20, 0x7F)],
    [*range(0xA0, 0x600)],
    [*range(0x900, 0x1200)],
    [*range(0x1E00, 0x2100)],
    [*range(0x4E00, 0x4F00)],
    [*range(0x1F300, 0x1F650)],
    [9, 10, 13, 32, 0x85, 0x2028, 0xFEFF, 0x17F, 0x212A, 0x130, 0x3A3, 0x345, 0x1D400, 0xFB01],
    [*range(0xD800), *range(0xE000, 0x110000)],
)


def _random_texts(count: int) -> list[str]:
    chance = Random(30)
    return [
        "".join(chr(chance.choice(chance.choice(POOLS))) for _ in range(chance.randrange(60))) for _ in range(count)
    ]


def _declaration(count: int) -> list[str]:
    """Return the beginning of the Universal Declaration of Human Rights in `count` languages.

    The list is empty if this machine does not have the file.
    """
    lines = [line for name in available_texts("data/udhr-languages.txt") for line in text_of(name).splitlines()]
    return [line[:400] for line in lines[:: max(1, len(lines) // count)]][:count]


ODD = ("  a  b ", "▁ ▁a▁", "<0x41> x <unk>y", "\n\n\n x\t\t\ty", " <|im_start|> <tool>x<tool>", "12345 1,234.5 ①② １２")
TEXTS_TO_CUT = [*(text_of(name)[:1000] for name in LANGUAGES), *_random_texts(60), *_declaration(10), *ODD]


def _learn(preset: str) -> bpe.Study:
    choices = {"vocab_size": None, "merges": 200} if preset in ("words", "clean-words") else {"vocab_size": 500}
    if preset in ("sentencepiece-like", "bert", "wordpiece", "picky-marked"):
        choices = {"vocab_size": 2_600}
    if preset in ("unigram", "mingram", "best"):
        choices = {"vocab_size": 1_900}
    return bpe.train(CORPUS, preset, **choices)


def _train_on_languages() -> bpe.Study:
    languages = bpe.Mixture(tuple(bpe.Group(name, ratio=Fraction(1)) for name in LANGUAGES))
    texts = {name: text_of(name)[:2000] for name in LANGUAGES}
    return bpe.train(texts, bpe.Recipe.preset("parity", merges=200, mixture=languages))


def _with_priorities(*, by_text: bool, whole_words: bool = False) -> bpe.Study:
    history = _learn("gpt2").history
    base, order = len(history.alphabet), Random(1).sample(range(len(history)), len(history))
    if by_text:
        joining = MergePriorities(priorities=np.array([-1] * base + order), whole_words=whole_words)
    else:
        left, right, _ = zip(*((*history.pair(row), row) for row in order), strict=True)
        joining = MergePriorities(pairs=PairRows(np.array(left), np.array(right), np.array(order) + base))
    return bpe.Study(bpe.History.from_pairs(history.recipe, history.alphabet, history.pairs(), joining))


def _falls_into_parts() -> bpe.Recipe:
    return bpe.Recipe.preset("boundless", vocab_size=400, tau=0.5, falls_into="parts")


LIBRARY_KINDS = ("qwen", "deepseek", "gpt neox", "roberta", "bert", "llama 2", "mistral", "gemma")


def _open_library_file(kind: str) -> bpe.Study:
    for package in ("tokenizers", "sentencepiece"):
        pytest.importorskip(package, reason=f"the package {package} is not installed")
    from tests.core.formats.hugging_face_tokenizers import KINDS

    return bpe.Study(FORMATS["tokenizer.json"].open(json.dumps(KINDS[kind]()).encode(), "theirs.json").history)


STUDIES: dict[str, Callable[[], bpe.Study]] = {
    **{
        preset: partial(_learn, preset)
        for preset in (
            *("gpt2", "cl100k", "o200k", "english", "clean-words", "words", "raw-bytes", "sentencepiece-like"),
            *("bert", "wordpiece", "unigram", "mingram", "best", "superbpe", "picky", "picky-marked", "boundless"),
        )
    },
    "pairs in their own order": lambda: _with_priorities(by_text=False),
    "texts in their own order": lambda: _with_priorities(by_text=True),
    "whole words": lambda: _with_priorities(by_text=True, whole_words=True),
    "parity": lambda: _train_on_languages(),
    "drops": lambda: bpe.train(CORPUS, bpe.Recipe.preset("boundless", vocab_size=400, tau=0.6)),
    "drops into parts": lambda: bpe.train(CORPUS, _falls_into_parts()),
    "whole characters": lambda: bpe.train(CORPUS, bpe.Recipe.preset("gpt2", vocab_size=500, whole_characters=True)),
    "RWKV": lambda: bpe.Study(RWKV_HISTORY),
    **{kind: partial(_open_library_file, kind) for kind in LIBRARY_KINDS},
}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("browser")) as browser_page:
        yield browser_page


def _open(page: Browser, folder: Path, **choices: Any) -> None:
    page.errors.clear()
    page.requests.clear()
    path = folder / "run.html"
    bpe.share(path=path, **choices)
    page.open(path)


@needs_browser
@pytest.mark.parametrize("name", STUDIES)
def test_a_shared_page_splits_texts_as_the_engine_does(name: str, page: Browser, tmp_path: Path) -> None:
    study = STUDIES[name]()
    _open(page, tmp_path, given=study)
    steps = len(study.history)
    moments = [0, steps // 3, steps]
    cut_at_all = f"page.runs[0].refuses(text) ? null : {moments}.map(at => page.runs[0].ids(text, at))"
    asked = f"({json.dumps(TEXTS_TO_CUT)}).map(text => {cut_at_all})"
    splits = page.value(asked)
    for text, cut in zip(TEXTS_TO_CUT, splits, strict=True):
        if cut is not None:
            assert cut == [study.encode(text, at=at) for at in moments], text
    unsure = sum(cut is None for cut in splits)
    spelled = [*contents_of(SharedRun("", study.history))["matched"], *(["Σ"] if name == "clean-words" else [])]
    assert unsure == sum(any(token in text for token in spelled) for text in TEXTS_TO_CUT)
    names = page.value("Array.from({length: page.runs[0].tokens.count}, (_, id) => page.runs[0].tokens.name(id))")
    different = [
        names_of_token
        for names_of_token in zip(names, study.inside.by_index.texts.text, strict=False)
        if names_of_token[0] != names_of_token[1]
    ]
    newer = {names_of_token for name, _ in different for names_of_token in name} - {
        names_of_token for _, name in different for names_of_token in name
    }
    assert len(newer) <= 2, different  # the browser and Python may know different versions of Unicode
    assert page.errors == []


@needs_browser
def test_a_shared_page_explains_token_boundaries_of_a_method_that_drops_tokens(page: Browser, tmp_path: Path) -> None:
    study = STUDIES["drops into parts"]()
    _open(page, tmp_path, given=study)
    history, text, at = study.history, "on the other hand", 60
    cut = f"page.runs[0].cut({json.dumps(text)}, {at})[0].cut"
    reasons = page.value(f"{cut}.reasons.map(one => one()).map(step => step === NEVER ? null : step)")
    starts = [
        {start for start, _, _ in study.inside.by_index.tokenizer.spans(text, step_count)}
        for step_count in range(len(history) + 1)
    ]
    for end, step in zip(page.value(f"{cut}.ends")[:-1], reasons, strict=False):
        assert all(end in edges_of_step for edges_of_step in starts[at : None if step is None else step + 1])
        assert step is None or end not in starts[step + 1]
    sizes = page.value("page.runs[0].sizes")
    assert sizes == history.vocabulary_sizes().tolist()


@needs_browser
def test_typing_and_the_controls_of_a_shared_page_work_in_a_browser(page: Browser, tmp_path: Path) -> None:
    study = bpe.train([text_of("poem")], "gpt2", merges=120)
    _open(page, tmp_path, given=study, title="The poem", text="the sea")
    steps = len(study.history)
    shown = "[...document.querySelectorAll('.tokens span')].map(span => span.textContent)"
    assert page.value("document.title") == "The poem"
    page.value("document.getElementById('text').focus()")
    page.value("document.getElementById('text').select()")
    page.type("the other sea")
    assert "".join(page.value(shown)) == "the other sea"
    assert len(page.value(shown)) == len(study.encode("the other sea"))
    page.value("document.getElementById('moment').focus()")
    page.press("Home")
    assert page.value(shown) == list("the other sea")
    assert page.value("document.querySelector('output').textContent") == f"0 merges of {steps}"
    page.press("ArrowRight")
    assert len(page.value(shown)) == len(study.encode("the other sea", at=1))
    page.click("#play")
    page.value("new Promise(done => setTimeout(done, 700))")
    assert page.value("page.timeline.place") > 1
    page.click("#play")
    page.value("page.goTo(page.timeline.last)")
    page.click(".tokens span")
    assert "is token" in page.value("document.querySelector('.reason').textContent")
    assert page.value("document.querySelectorAll('.tree li').length") >= 1
    page.value("document.querySelector('.tokens').focus()")
    before = page.value("document.querySelector('.reason').textContent")
    page.press("ArrowRight")
    assert page.value("document.querySelector('.reason').textContent") != before
    assert page.errors == []


@needs_browser
def test_a_user_can_type_and_read_the_names_of_symbols_on_a_shared_page(page: Browser, tmp_path: Path) -> None:
    numbers = [60, 62, 64, 60, 62, 60, 62, 64, 67, 60, 62]
    np.save(tmp_path / "notes.npy", np.array(numbers))
    names = ("",) * 60 + ("C", "", "D", "", "E")
    recipe = bpe.Recipe(
        base="characters", base_symbols="integers", symbol_names=names, pattern="none", vocab_size=None, merges=2
    )
    study = bpe.train(tmp_path / "notes.npy", recipe)
    _open(page, tmp_path, given=study, text=recipe.text_of_symbols("C D E 67"))
    shown = "[...document.querySelectorAll('.tokens span')].map(span => span.textContent)"
    assert page.value("document.getElementById('text').value") == "C D E 67"
    assert page.value(shown) == ["<C><D><E>", "<67>"]
    page.value("document.getElementById('text').focus()")
    page.value("document.getElementById('text').select()")
    page.type("D C D nothing")
    assert page.value(shown) == ["<D>", "<C><D>", "<?>"]
    ids = page.value(f"page.runs[0].ids(page.text, {len(study.history)})")
    assert ids == study.encode(recipe.text_of_symbols("D C D nothing"))
    named = page.value("Array.from({length: page.runs[0].tokens.count}, (_, id) => page.runs[0].tokens.name(id))")
    assert "<C><D>" in named
    assert page.errors == []


@needs_browser
def test_every_control_of_a_shared_page_has_a_name_for_screen_readers(page: Browser, tmp_path: Path) -> None:
    _open(page, tmp_path, given=bpe.train([text_of("poem")], "gpt2", merges=60), title="The poem", text="the sea")
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    names = {(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]}
    sentence = "Byte-pair encoding: from 7 tokens to "
    assert {("heading", "The poem"), ("textbox", "Your text"), ("slider", "Moment"), ("button", "Play")} <= names
    assert {("group", "Tokens of Byte-pair encoding"), ("region", "Byte-pair encoding")} <= names
    assert any(role in ("img", "image") and name.startswith(sentence) for role, name in names), names
    assert page.value("document.getElementById('moment').getAttribute('aria-valuetext')") == "60 merges of 60"
    assert page.value("document.querySelector('.reason').getAttribute('aria-live')") == "polite"


@needs_browser
def test_a_shared_page_shows_the_same_leading_pairs_as_the_engine(page: Browser, tmp_path: Path) -> None:
    study = bpe.train([text_of("poem")], "gpt2", merges=60)
    _open(page, tmp_path, given=study)
    for at in (0, 1, 30):
        best = page.value(f"page.runs[0].leadingPairs({at}, 1)[0].count")
        assert best == study.history[at].count
    assert page.value("Array.from(page.runs[0].counts)") == study.history.columns.count.tolist()
    assert page.value("Array.from(page.runs[0].corpus)") == study.history.tokens_after.tolist()


@needs_browser
def test_a_shared_page_says_how_much_a_merge_lowers_the_counts_of_other_pairs(page: Browser, tmp_path: Path) -> None:
    _open(page, tmp_path, given=bpe.train(["he he he the the tho"], "words", merges=2, min_frequency=1))
    page.value("page.goTo(1)")
    rows = page.value("[...document.querySelectorAll('.leader')].map(row => row.innerText.split(/\\s*\\n\\s*/))")
    assert ["t + he", "2"] in rows
    assert ["t + h", "1", "−2, taken by he"] in rows


@needs_browser
def test_a_shared_page_shows_the_pair_that_lost_the_most_occurrences_below_the_leading_pairs(
    page: Browser, tmp_path: Path
) -> None:
    _open(page, tmp_path, given=bpe.train([samples()[0].text()], "gpt2", vocab_size=300))
    page.value("page.goTo(1)")
    rows = page.value("[...document.querySelectorAll('.leader')].map(row => row.innerText.split(/\\s*\\n\\s*/))")
    assert rows[-1] == ["t + h", "41", "−117, taken by he"]
    assert len(rows) == 6


@needs_browser
def test_tokens_on_a_shared_page_have_the_same_colours_as_in_the_window(page: Browser, tmp_path: Path) -> None:
    study, text = bpe.train([text_of("poem")], "gpt2", merges=60), "ooooo the sea, naïve 🐦 the theee\n\n"
    _open(page, tmp_path, given=study, text=text)
    for at in (0, 20, 60):
        page.value(f"page.goTo({at})")
        shown = page.value(
            "[...document.querySelectorAll('.tokens span')].map(span => Number(span.className.slice(1)))"
        )
        tokens = study.inside.by_index.tokenizer.token_spans(text, at)
        assert shown == colours_in_row([text.encode()[token.first_byte : token.behind_byte] for token in tokens])


@needs_browser
def test_a_letter_that_is_divided_among_tokens_is_shown_as_a_letter_on_a_shared_page(
    page: Browser, tmp_path: Path
) -> None:
    _open(page, tmp_path, given=bpe.train(["low low"], "gpt2", merges=2), text="low доброе é")
    shown = page.value("document.querySelector('.tokens').textContent")
    assert shown.replace("·", "") == "low доброе é"
    assert shown.count("·") == 7, "a sign for the second token of each letter"
    assert "<0x" not in shown


@needs_browser
def test_editing_a_long_text_on_a_shared_page_redraws_only_the_changed_tokens(page: Browser, tmp_path: Path) -> None:
    text = "a b c d " * 600
    _open(page, tmp_path, given=bpe.train([text_of("poem")], "gpt2", merges=20), text=text)
    spans = "page.lanes[0].view.children"
    shown = f"[...{spans}].map(span => span.textContent).join('')"
    for first, behind, typed in ((9, 9, "xy"), (9, 11, ""), (0, 4000, "z"), (1, 1, "long " * 900), (3, 9000, "")):
        last = page.value(f"window.last = {spans}[0], {spans}.length")
        text = text[:first] + typed + text[behind:]
        page.value(f"page.input.setRangeText({json.dumps(typed)}, {first}, {behind}); page.show()")
        assert text.startswith(page.value(shown))
        assert page.value(f"{spans}.length") == min(2_000, page.value("page.lanes[0].flow.length")), last


def test_shared_runs_with_the_same_name_get_different_titles() -> None:
    small, large = (bpe.train(["low low low lower"], "gpt2", merges=merges) for merges in (2, 3))
    runs = [SharedRun("ours", small.history), SharedRun("theirs", small.history), SharedRun("ours", large.history)]
    assert [run.title for run in with_different_titles(runs)] == [
        "ours · gpt2, 258 tokens",
        "theirs",
        "ours · gpt2, 259 tokens",
    ]


@pytest.mark.parametrize("titles", [["ours"] * 3, ["ours", "ours", "ours · gpt2, 258 tokens", "ours (2)"]])
def test_shared_runs_get_different_titles_even_if_their_recipes_and_sizes_are_equal(titles: list[str]) -> None:
    learned = bpe.train(["low low low lower"], "gpt2", merges=2).history
    given = [SharedRun(title, learned) for title in titles]
    titled = [run.title for run in with_different_titles(given)]
    assert len({*titled}) == len(titles)
    assert all(new.startswith(old) for new, old in zip(titled, titles, strict=True))


@needs_browser
def test_one_slider_moves_several_runs_on_a_shared_page(page: Browser, tmp_path: Path) -> None:
    text = text_of("poem")
    ours, theirs = bpe.train([text], "gpt2", vocab_size=300), bpe.train([text], "bert", vocab_size=200)
    fewest = bpe.train([text], "best", vocab_size=200)
    _open(page, tmp_path, given={"ours": ours, "theirs": theirs, "fewest": fewest}, text="the sea")
    assert page.value("page.lanes.length") == 3
    assert page.value("document.title") == "ours and theirs and fewest"
    for place in (0, 60, 150, 10_000):
        page.value(f"page.goTo({place})")
        size = page.value("page.timeline.place + page.timeline.first")
        for lane, study in enumerate((ours, theirs, fewest)):
            at = page.value(f"page.lanes[{lane}].at")
            sizes = study.history.vocabulary_sizes()
            assert sizes[at] == min(max(size, sizes.min()), sizes.max())
    legend = page.value("[...document.querySelectorAll('figcaption div')].map(one => one.innerText)")
    for title, study, line in zip(("ours", "theirs", "fewest"), (ours, theirs, fewest), legend, strict=True):
        ends = [len(study.encode("the sea", at=at)) for at in (0, len(study.history))]
        assert line == f"{title}: from {ends[0]} tokens to {ends[1]}"
    assert page.errors == []


@needs_browser
def test_the_url_of_a_shared_page_contains_the_shown_step_and_text_so_that_the_page_can_be_restored(
    page: Browser, tmp_path: Path
) -> None:
    study = bpe.train([text_of("poem")], "gpt2", merges=60)
    _open(page, tmp_path, given=study, text="the sea")
    assert page.value("location.hash") == ""  # nobody has moved yet
    page.value("document.getElementById('text').focus()")
    page.value("document.getElementById('text').select()")
    page.type("naïve & 100 % #1")
    page.value("page.goTo(17)")
    page.value("new Promise(done => setTimeout(done, 600))")
    address = page.value("location.hash")
    assert parse_qs(address.removeprefix("#")) == {"step": ["17"], "text": ["naïve & 100 % #1"]}
    page.value("page.goTo(3)")
    page.value("page.address.write()")
    page.value(f"new Promise(done => {{ location.hash = {address!r}; setTimeout(done, 100) }})")
    assert page.value("page.timeline.place") == 17
    page.call("Page.navigate", url="about:blank")
    page.open(tmp_path / "run.html")
    assert page.value("page.timeline.place") == 60
    for part, place, text in (
        ("#step=5", 5, "the sea"),
        ("#text=low", 5, "low"),
        ("#step=900", 60, "low"),
        ("#step=-1&text=", 60, ""),
        ("#step=x&size=4", 60, ""),
        ("#%E0%A4%A", 60, ""),
    ):
        page.value(f"new Promise(done => {{ location.hash = {part!r}; setTimeout(done, 100) }})")
        assert (page.value("page.timeline.place"), page.value("page.text")) == (place, text), part
    assert page.errors == []


@needs_browser
def test_the_url_of_a_shared_page_sets_the_size_and_the_text_and_can_be_copied(page: Browser, tmp_path: Path) -> None:
    ours, theirs = (bpe.train([text_of("poem")], preset, vocab_size=300) for preset in ("gpt2", "raw-bytes"))
    _open(page, tmp_path, given={"ours": ours, "theirs": theirs}, text="the sea")
    page.call("Page.navigate", url="about:blank")
    page.call("Page.navigate", url=(tmp_path / "run.html").as_uri() + "#size=280&text=the+lowest")
    ready = "new Promise(done => { const look = () => window.page ? done(true) : setTimeout(look, 5); look(); })"
    assert page.value(ready)
    assert page.value("page.timeline.place + page.timeline.first") == 280
    assert page.value("[...document.querySelectorAll('.lane')].map(lane => lane.innerText)")[0].count("280")
    assert page.value("page.text") == "the lowest"
    copied = "navigator.clipboard.writeText = async (text) => { window.copied = text; }"
    page.value(copied)
    page.click("#copy")
    assert page.value("window.copied").endswith("run.html#size=280&text=the+lowest")
    assert page.value("page.address.said.textContent") == "The address is copied."
    page.value("page.setText('x'.repeat(3000))")
    page.click("#copy")
    assert page.value("window.copied").endswith("run.html#size=280")
    assert "without the text" in page.value("page.address.said.textContent")
    assert page.errors == []


@needs_browser
def test_malicious_texts_on_a_shared_page_run_no_code_and_send_no_data(page: Browser, tmp_path: Path) -> None:
    bad = "</script><script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"
    study = bpe.train([f"{bad} {bad} {bad}"], "raw-bytes", vocab_size=None, merges=90)
    _open(page, tmp_path, given=study, title=bad, text=bad, note=bad)
    page.value("page.lanes[0].choose(0)")
    assert page.value("document.title") == bad
    assert page.value("document.querySelectorAll('img, main script').length") == 0
    assert page.errors == []
    assert [request for request in page.requests if not request.startswith("file:")] == []
    sent = "fetch('https://example.org/').then(() => 'sent', () => 'refused')"
    assert page.value(sent) == "refused"
    inline = (
        "const s = document.createElement('script'); s.textContent = 'document.title = 1'; document.body.append(s);"
    )
    page.value(inline)
    assert page.value("document.title") == bad


@needs_browser
def test_a_shared_page_fits_the_width_of_a_phone(page: Browser, tmp_path: Path) -> None:
    _open(page, tmp_path, given=bpe.train([text_of("poem")], "gpt2", merges=60), title="x" * 200, text="y" * 500)
    page.call("Emulation.setDeviceMetricsOverride", width=360, height=640, deviceScaleFactor=1, mobile=True)
    assert page.value("document.documentElement.scrollWidth") <= 360
    page.call("Emulation.clearDeviceMetricsOverride")


def test_a_shared_page_of_256_merges_is_smaller_than_60_kilobytes() -> None:
    for preset in ("gpt2", "o200k"):
        study = bpe.train([text_of("poem"), text_of("prose")], preset, merges=256)
        assert len(page_of([SharedRun("ours", study.history, study.inside.learned_from)])) < 60_000


def test_a_shared_page_of_50_000_merges_is_smaller_than_a_megabyte() -> None:
    chance = np.random.default_rng(1)
    steps = 50_000
    pairs = np.stack([chance.integers(0, np.arange(256, 256 + steps)) for _ in range(2)], axis=1)
    history = bpe.History.from_pairs(bpe.Recipe.preset("gpt2"), _learn("gpt2").history.alphabet, pairs)
    columns = history.columns._replace(
        count=np.sort(chance.integers(2, 1_000_000, steps))[::-1],
        runner_up_left=chance.integers(0, 256, steps).astype(np.int32),
        runner_up_right=chance.integers(0, 256, steps).astype(np.int32),
        runner_up_count=np.full(steps, 1),
        tokens_left=np.arange(steps)[::-1],
    )
    counted = bpe.History(history.recipe, history.alphabet, columns, tokens_at_start=steps)
    assert len(page_of([SharedRun("ours", counted)])) < 1_000_000


def test_sharing_a_tokenizer_that_the_page_cannot_show_is_refused_with_the_reason() -> None:
    steps = [{"type": "Strip", "strip_left": True, "strip_right": True}]
    prepared = bpe.train([text_of("poem")], bpe.Recipe.preset("gpt2", merges=9, preparation=steps))
    assert "normalizes and splits texts by operations that this page does not support" in why_not(prepared.history)
    shown = bpe.Recipe.preset("words", pattern="none", preparation=[{"type": "ByteLevel"}])  # bytes shown by letters
    assert "operations that this page does not support" in why_not(bpe.train([text_of("poem")], shown).history)
    backwards = bpe.train(
        [text_of("poem")], bpe.Recipe(pattern="custom", custom_pattern=r"(?<=the )\w+", merges=9, vocab_size=None)
    )
    assert "regular expression that this page cannot follow" in why_not(backwards.history)
    blocks = bpe.train([text_of("poem")], "gage")
    assert "cannot split another text" in why_not(blocks.history)
    model = {
        "type": "BPE",
        "vocab": {"a": 0, "##b": 1, "ab": 2},
        "merges": ["a ##b"],
        "continuing_subword_prefix": "##",
    }
    marked = FORMATS["tokenizer.json"].open(json.dumps({"model": model}).encode(), "tokenizer.json")
    assert "tokens that continue a word have a marker" in why_not(marked.history)


def test_a_shared_page_of_a_method_with_its_own_splitting_rule_does_not_split_by_byte_pair_encoding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    history = bpe.train([text_of("poem")], "gpt2", merges=9).history
    assert why_not(history) == ""

    class Own(BytePairEncoding):
        def cutter(self, history: bpe.History, cutting: Cutting) -> Segmenter:
            return super().cutter(history, cutting)

    monkeypatch.setitem(METHODS, BytePairEncoding.name, Own())
    assert "a rule that this page does not support" in why_not(history)
    assert '"by":""' in json.dumps(contents_of(SharedRun("new", history))["cuts"], separators=(",", ":"))
