"""A film shows what the engine says, its files hold its frames, and its letters need no font."""

from __future__ import annotations

import base64
import os
import string
import zlib
from collections.abc import Iterator
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.errors import BpeError, Cancelled
from bpe_core.filming.canvas import Canvas, Pixels
from bpe_core.filming.files import write_gif, write_png
from bpe_core.filming.letters import letter_of, shades_of
from bpe_core.filming.run import FilmedRun, Stretch
from bpe_core.filming.scene import SIZES, Scene, Size
from bpe_core.support.progress import ALONE, Progress, Work
from tests.browser import Browser, browser, needs_browser
from tests.shared import text_of

TEXT = "the sea, the lighthouse: naïve 🐦"
SMALL = Size(200, 120, 8)


@pytest.fixture(scope="module")
def study() -> bpe.Study:
    return bpe.train([text_of("poem")], "gpt2", merges=60)


def _scene(study: bpe.Study, *others: bpe.Study, size: Size = SMALL, seconds: float | None = 3) -> Scene:
    runs = [FilmedRun(f"run {number}", one, TEXT, ALONE) for number, one in enumerate((study, *others))]
    return Scene(runs, Stretch.of(runs, None, None, seconds, 20), "A film", size)


def test_every_usual_letter_is_drawn() -> None:
    usual = string.ascii_letters + string.digits + string.punctuation + "äöüßéèêëñçåøžčěřőąęł" + "␣⏎⇥▁−“”…"
    usual += "абвгдеёжзийклмнопрстуфхцчшщъыьэюяії" + "αβγδεζηθικλμνξοπρσςτυφχψωά"
    drawn = {letter_of(one) for one in usual}
    assert len(drawn) > 0.85 * len(usual), "but for those that look alike"
    for one in usual:
        assert shades_of(one, 20.0).any(), one
    assert letter_of("漢") != letter_of("字"), "others show their code points"


def test_the_frames_are_the_same_on_every_machine(study: bpe.Study) -> None:
    canvas = Canvas(300, 60, (255, 255, 255))
    canvas.text(4, 20, "The keeper: été, доброе, ώ 漢 0123", 18.0, (0, 0, 0))
    canvas.text(4, 46, "bold", 15.0, (200, 30, 0), is_bold=True)
    canvas.box(100, 36, 140, 56, (10, 200, 90), 5)
    canvas.line([(150.5, 40), (190, 55.25), (240, 37)], (0, 0, 200), 2.2)
    assert zlib.crc32(canvas.pixels.tobytes()) == LETTERS
    scene = _scene(study, size=Size(400, 260, 9))
    pixels = scene.frame(40).pixels
    assert all((pixels == ground).all(axis=2).any() for ground in scene.colours.grounds), "tokens are drawn"
    assert zlib.crc32(pixels.tobytes()) == FRAME


LETTERS, FRAME = 3261196889, 659513780


def test_it_counts_the_tokens_that_the_engine_cuts(study: bpe.Study) -> None:
    scene = _scene(study)
    for place, tokens in scene._line[0]:
        assert tokens == len(study.encode(TEXT, at=place))
    run = scene.runs[0]
    for at in (0, 7, 59):
        best = run.leaders(at)[0]
        assert best.written == f"{study.history[at].count:,}"
    assert run.leaders(60) == []
    taken = FilmedRun("", bpe.train(["he he he the the tho"], "words", merges=2, min_frequency=1), TEXT, ALONE)
    assert [(one.name, one.written, one.taken) for one in taken.leaders(1)][1] == ("t + h", "1", "−2, taken by he")


def test_two_runs_have_as_many_tokens_at_each_moment(study: bpe.Study) -> None:
    other = bpe.train([text_of("poem")], "unigram", vocab_size=150)
    scene = _scene(study, other)
    assert scene.stretch.is_by_size
    for place in scene.stretch.places:
        for run in scene.runs:
            sizes = [run.size_at(0), run.size_at(len(run))]
            assert run.size_at(scene.stretch.step(run, place)) == min(max(place, min(sizes)), max(sizes))


@pytest.mark.parametrize("preset", ["wordpiece", "unigram", "mingram", "gage"])
def test_every_method_and_size_is_drawn(preset: str) -> None:
    choices: dict[str, Any] = {} if preset in ("wordpiece", "gage") else {"vocab_size": 150}
    study = bpe.train([text_of("poem")], preset, **choices)
    for size in SIZES.values():
        scene = _scene(study, size=size)
        for place in (scene.stretch.places[0], scene.stretch.places[-1]):
            pixels = scene.frame(place).pixels.astype(np.int64)
            assert 10 < len({*(pixels @ (65536, 256, 1)).ravel().tolist()}) < 256


def _noise() -> list[tuple[Pixels, int]]:
    """Return frames that fill the table of codes, repeat, and change in a corner."""
    chance = np.random.default_rng(3)
    palette = chance.integers(0, 256, (200, 3)).astype(np.uint8)
    first = palette[chance.integers(0, 200, (90, 120))]
    second = first.copy()
    second[60:80, 100:] = palette[0]
    return [(first, 80), (first, 80), (second, 160), (first, 400)]


DECODED = """(async () => {
  const data = Uint8Array.from(atob("%s"), letter => letter.charCodeAt(0));
  const decoder = new ImageDecoder({ data, type: "image/%s" });
  await decoder.tracks.ready;
  await decoder.completed;
  const found = [];
  for (let i = 0; i < decoder.tracks.selectedTrack.frameCount; i++) {
    const { image } = await decoder.decode({ frameIndex: i });
    const canvas = new OffscreenCanvas(image.displayWidth, image.displayHeight).getContext("2d");
    canvas.drawImage(image, 0, 0);
    const pixels = canvas.getImageData(0, 0, image.displayWidth, image.displayHeight).data;
    let text = "";
    for (let at = 0; at < pixels.length; at += 8192) text += String.fromCharCode(...pixels.subarray(at, at + 8192));
    found.push([btoa(text), image.duration]);
  }
  return found;
})()"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    folder = tmp_path_factory.mktemp("browser")
    (folder / "empty.html").write_text("<script>document.documentElement.dataset.ready = 'yes'</script>")
    with browser(folder / "home") as one:
        one.open(folder / "empty.html")
        yield one


@needs_browser
@pytest.mark.parametrize("kind", ["png", "gif"])
def test_a_browser_sees_the_frames(kind: str, page: Browser, study: bpe.Study) -> None:
    scene = _scene(study)
    places = scene.stretch.places
    drawn = [(scene.frame(place).pixels, 80) for place in places]
    for frames in (_noise(), drawn):
        file, (high, wide, _) = BytesIO(), frames[0][0].shape
        (write_png if kind == "png" else write_gif)(iter(frames), wide, high, file)
        found = page.value(DECODED % (base64.b64encode(file.getvalue()).decode(), kind))
        seen = [(np.frombuffer(base64.b64decode(raw), np.uint8).reshape(high, wide, 4), ms) for raw, ms in found]
        different = [frames[0], *(new for old, new in pairwise(frames) if (old[0] != new[0]).any())]
        assert len(seen) == len(different)
        assert sum(shown for _, shown in seen) == 1_000 * sum(shown for _, shown in frames)
        for (pixels, _), (wanted, _) in zip(seen, different, strict=True):
            assert (pixels[..., :3] == wanted).all()
            assert (pixels[..., 3] == 255).all()


FFMPEG = """#!/bin/sh
for last; do :; done
if grep -q refuse "$(dirname "$0")/mood"; then echo "Unknown encoder" >&2; exit 1; fi
wc -c > "$last"
"""


@pytest.mark.skipif(os.name == "nt", reason="the ffmpeg of this test is a shell script")
def test_ffmpeg_is_given_every_frame(study: bpe.Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "film.mp4"
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(BpeError, match="ffmpeg, which was not found here"):
        bpe.film(study, path, seconds=1)
    program = tmp_path / "ffmpeg"
    program.write_text(FFMPEG)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (tmp_path / "mood").write_text("willing")
    bpe.film(study, path, seconds=1)
    frames = 10 + 25 + 10  # the first and the last one stay
    assert int(path.read_text()) == frames * 800 * 420 * 3
    (tmp_path / "mood").write_text("refuse")
    with pytest.raises(BpeError, match=r"ffmpeg could not make .*Unknown encoder"):
        bpe.film(study, path, seconds=1)


def test_it_can_be_stopped_and_says_where_it_is(study: bpe.Study, tmp_path: Path) -> None:
    seen = list[Progress]()
    path = tmp_path / "film.gif"
    with pytest.raises(Cancelled):
        bpe.film(study, path, work=Work(seen.append, lambda: len(seen) > 4))
    assert [one.done for one in seen] == [0, 1, 2, 3, 4]
    assert [*tmp_path.iterdir()] == []


def test_mistakes_are_sentences(study: bpe.Study, tmp_path: Path) -> None:
    mistakes: list[tuple[dict[str, Any], str]] = [
        ({"path": "film.jpg"}, "is written as .png"),
        ({"seconds": 0.0}, "1 to 120 seconds"),
        ({"seconds": float("nan")}, "1 to 120 seconds"),
        ({"size": "poster"}, "readme, chat, slide"),
        ({"first": 60}, "nothing to film from 60 to 60; the merges go from 0 to 60"),
        ({"first": 9, "last": 3}, "nothing to film from 9 to 3"),
        ({"given": {"a": study, "b": study, "c": study}}, "one run or two, not 3"),
        ({"given": study.at(0)}, "nothing to film"),
    ]
    for wrong, said in mistakes:
        given: dict[str, Any] = {"given": study, "path": "film.png"} | wrong
        given["path"] = tmp_path / str(given["path"])
        with pytest.raises(BpeError, match=said):
            bpe.film(**given)
