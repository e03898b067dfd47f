"""Tests of films: frames show the values of the engine, files contain the frames, and missing characters
are reported.
"""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Iterator
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageChops, features

import bpe_core as bpe
from bpe_core.command_line.main import run as run_command
from bpe_core.errors import BpeError, Cancelled
from bpe_core.filming import fonts
from bpe_core.filming.canvas import Canvas, Pen
from bpe_core.filming.choices import SIZES, FilmChoices, Size
from bpe_core.filming.files import frequent_colours, write_moving
from bpe_core.filming.film import write_film
from bpe_core.filming.fonts import Fonts
from bpe_core.filming.run import FilmedRun, FilmMoments
from bpe_core.filming.scene import Scene, place_text
from bpe_core.support.numbered_symbols import SymbolNames
from bpe_core.support.progress import ALONE, Progress, Work
from tests.browser import Browser, browser, needs_browser
from tests.shared import text_of

TEXT = "the sea, the lighthouse: naïve 🐦"
SMALL = Size(200, 120, 8)


@pytest.fixture(scope="module")
def study() -> bpe.Study:
    return bpe.train([text_of("poem")], "gpt2", merges=60)


def _scene(study: bpe.Study, *others: bpe.Study, size: Size = SMALL, seconds: float | None = 3) -> Scene:
    runs = [FilmedRun(f"run {number}", filmed, TEXT, ALONE) for number, filmed in enumerate((study, *others))]
    return Scene(runs, FilmMoments.of(runs, None, None, seconds, 20), "A film", size, Fonts())


@pytest.fixture
def no_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that the computer has no fonts except the font that Pillow contains."""
    monkeypatch.setattr(fonts, "FONTCONFIG", "no-such-program")
    monkeypatch.setattr(fonts, "USUAL", ())
    monkeypatch.setattr(fonts, "FURTHER", ())


@pytest.fixture
def small_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw films with few pixels, for tests that read only the messages about a film."""
    monkeypatch.setitem(SIZES, "readme", SMALL)


def _ink(text: str, pen: Pen) -> int:
    canvas = Canvas(120, 40, (255, 255, 255), pen)
    canvas.text(10, 20, text, 20, (0, 0, 0))
    return int((np.asarray(canvas.image) < 128).sum())


@pytest.mark.usefixtures("no_fonts")
def test_films_can_show_ascii_characters_and_space_symbols_without_a_system_font() -> None:
    pen = Pen(Fonts())
    for sign in (*map(chr, range(33, 127)), *"␣⏎⇥▁−“”…"):
        assert not pen.fonts.is_missing(sign)
        assert _ink(sign, pen), sign


@pytest.mark.usefixtures("no_fonts", "small_pictures")
def test_characters_that_no_font_has_are_left_out_of_a_film_and_reported(study: bpe.Study, tmp_path: Path) -> None:
    pen = Pen(Fonts())
    assert pen.fonts.is_missing("漢")
    assert not _ink("漢", pen)
    assert pen.width_of("漢", 20) > 0, "its token has a place"
    notes = write_film([("", study)], tmp_path / "film.gif", FilmChoices("a 漢字 day 漢", last=60, seconds=1))
    assert notes == (
        "No font on this computer has 2 of the characters of the text, such as CJK UNIFIED IDEOGRAPH-6F22, CJK UNIFIED "
        "IDEOGRAPH-5B57. These characters are left out. Install a font that has these characters, or name a "
        "font with --font.",
    )


def test_filming_without_pillow_says_which_package_to_install(
    study: bpe.Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(BpeError, match=r"needs the package Pillow, .*pip install 'bpe-explorer\[film\]'"):
        bpe.film(study, tmp_path / "film.gif")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.usefixtures("small_pictures")
def test_filming_right_to_left_text_without_the_raqm_library_is_reported(
    study: bpe.Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "check", lambda name: False)
    for text, note_count in (("the sea", 0), ("a שלום b", 1)):
        notes = write_film([("", study)], tmp_path / "film.gif", FilmChoices(text, last=60, seconds=1))
        assert sum("lacks the library raqm" in note for note in notes) == note_count


def test_filming_with_an_unreadable_font_file_is_refused(study: bpe.Study, tmp_path: Path) -> None:
    (tmp_path / "letters.ttf").write_bytes(b"no font")
    with pytest.raises(BpeError, match=r"letters\.ttf cannot be read as a font: .*Name a \.ttf or \.otf file"):
        bpe.film(study, tmp_path / "film.gif", font=tmp_path / "letters.ttf")


@pytest.mark.usefixtures("small_pictures")
def test_a_note_names_the_step_at_which_a_film_ends_if_the_run_has_later_steps(
    study: bpe.Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write_film([("", study)], tmp_path / "film.gif", FilmChoices("the sea", last=60, seconds=1)) == ()
    longer = bpe.train([text_of("poem")], "gpt2", merges=90)
    (note,) = write_film([("", longer)], tmp_path / "film.gif", FilmChoices("the sea"))
    assert note.startswith("The film ends at step 7")
    assert note.endswith("of 90. To show the whole run, choose more seconds, or step 90 as the end.")
    longer.save(tmp_path / "merges.csv")
    table, path = str(tmp_path / "merges.csv"), str(tmp_path / "film.gif")
    assert run_command(["film", table, "-o", path, "--text", "the sea"]) == 0
    assert note in capsys.readouterr().out


WORDS = st.lists(st.text("aé漢🐦שםمرح \n-", min_size=1, max_size=9), max_size=8)
PEN = Pen(Fonts())


@given(WORDS, st.integers(20, 200))
def test_characters_of_a_film_are_placed_in_order_without_overlap(words: list[str], width: int) -> None:
    """The cells contain the text in order. No cell overlaps another cell, whatever the reading direction."""
    text = " ".join(words)
    cells, _ = place_text(text, 10.0, width, PEN)
    assert "".join(cell.character for cell in cells) == text
    assert all(cell.left <= cell.right for cell in cells)
    for line in {cell.line for cell in cells}:
        across = sorted((cell.left, cell.right) for cell in cells if cell.line == line and cell.right > cell.left)
        assert all(before[1] <= after[0] + 1e-6 for before, after in pairwise(across))


def test_a_letter_and_its_accent_are_drawn_at_the_same_position_in_a_film() -> None:
    cells, _ = place_text("e\N{COMBINING ACUTE ACCENT}t", 10.0, 500, PEN)
    assert [len(cell.character) for cell in cells] == [2, 1]


def test_symbols_in_a_film_get_cells_as_wide_as_their_names() -> None:
    names = SymbolNames(("C", "Dis"))
    cells, parts = place_text(names.text_of(["C", "Dis", "C"]), 10.0, 500, PEN, names.shown)
    assert [part.text for part in parts] == ["<C>", "<Dis>", "<C>"]
    assert [cell.right - cell.left for cell in cells] == pytest.approx(
        [PEN.width_of(part.text, 10.0) for part in parts]
    )


def test_right_to_left_words_in_a_film_are_placed_from_right_to_left() -> None:
    cells, parts = place_text("a שלום עולם b", 10.0, 500, PEN)
    lefts = [cell.left for cell in cells if not cell.character.isspace()]
    assert lefts[0] < min(lefts[1:9])
    assert lefts[1:9] == sorted(lefts[1:9], reverse=True)
    assert lefts[9] > max(lefts[:9])
    assert [part.text for part in parts] == ["a", "שלום", "עולם", "b"]
    assert parts[1].left > parts[2].left


def test_a_film_shows_the_same_token_counts_as_the_engine(study: bpe.Study) -> None:
    scene = _scene(study)
    for place, tokens in scene._line[0]:
        assert tokens == len(study.encode(TEXT, at=place))
    run = scene.runs[0]
    for at in (0, 7, 59):
        best = run.leaders(at)[0]
        assert best.written == f"{study.history[at].count:,}"
    assert run.leaders(60) == []
    taken = FilmedRun("", bpe.train(["he he he the the tho"], "words", merges=2, min_frequency=1), TEXT, ALONE)
    assert [(leader.name, leader.written, leader.taken) for leader in taken.leaders(1)][1] == (
        "t + h",
        "1",
        "−2, taken by he",
    )


def test_a_film_of_two_runs_shows_both_runs_at_equal_vocabulary_sizes(study: bpe.Study) -> None:
    other = bpe.train([text_of("poem")], "unigram", vocab_size=150)
    scene = _scene(study, other)
    assert scene.stretch.is_by_size
    for place in scene.stretch.places:
        for run in scene.runs:
            sizes = [run.size_at(0), run.size_at(len(run))]
            assert run.size_at(scene.stretch.step(run, place)) == min(max(place, min(sizes)), max(sizes))


@pytest.mark.parametrize("preset", ["wordpiece", "unigram", "mingram", "gage"])
def test_films_can_be_drawn_for_every_method_and_picture_size(preset: str) -> None:
    choices: dict[str, Any] = {} if preset in ("wordpiece", "gage") else {"vocab_size": 150}
    study = bpe.train([text_of("poem")], preset, **choices)
    for size in SIZES.values():
        scene = _scene(study, size=size)
        for place in (scene.stretch.places[0], scene.stretch.places[-1]):
            colours = scene.frame(place).image.getcolors(2**24)
            assert colours is not None
            assert len(colours) > 10
            assert scene.colours.ground in {colour for _, colour in colours}


def test_tokens_keep_their_exact_colours_in_a_film_file(study: bpe.Study) -> None:
    scene = _scene(study, size=Size(400, 260, 9))
    image = scene.frame(40).image
    kept = {*frequent_colours([image])}
    assert {scene.colours.ground, scene.colours.text, *scene.colours.grounds} <= kept
    file = BytesIO()
    write_moving([image], [80], [image], file, "PNG")
    with Image.open(file) as film:
        shown = np.asarray(film.convert("RGB"))
    for colour in (scene.colours.ground, *scene.colours.grounds):
        drawn = (np.asarray(image) == colour).all(axis=2)
        assert drawn.any()
        assert (shown[drawn] == colour).all()


def _few_colours() -> list[Image.Image]:
    """Return three pictures in few colours: the second differs in a corner, and the third equals the first."""
    chance = np.random.default_rng(3)
    palette = np.array([[40 * i, 255 - 40 * i, 8 * i] for i in range(7)], np.uint8)
    first = palette[chance.integers(0, 7, (90, 120))]
    second = first.copy()
    second[60:80, 100:] = palette[0]
    return [Image.fromarray(pixels) for pixels in (first, second, first)]


@pytest.mark.parametrize("kind", ["PNG", "GIF"])
def test_a_film_file_contains_every_frame_with_the_duration_of_the_frame(kind: str) -> None:
    frames, shown, file = _few_colours(), [160, 80, 400], BytesIO()
    write_moving(frames, shown, frames, file, kind)
    with Image.open(file) as image:
        assert getattr(image, "n_frames", 1) == len(frames)
        for place, frame in enumerate(frames):
            image.seek(place)
            assert image.info["duration"] == shown[place]
            assert image.info.get("loop", 0) == 0
            assert ImageChops.difference(image.convert("RGB"), frame).getbbox() is None


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
    with browser(folder / "home") as opened_browser:
        opened_browser.open(folder / "empty.html")
        yield opened_browser


@needs_browser
@pytest.mark.parametrize("kind", ["png", "gif"])
def test_a_browser_decodes_every_frame_of_a_film_file(kind: str, page: Browser) -> None:
    frames, shown, file = _few_colours(), [160, 80, 400], BytesIO()
    write_moving(frames, shown, frames, file, kind.upper())
    decoded = page.value(DECODED % (base64.b64encode(file.getvalue()).decode(), kind))
    wide, high = frames[0].size
    pixels_of_frames = [np.frombuffer(base64.b64decode(raw), np.uint8).reshape(high, wide, 4) for raw, _ in decoded]
    assert [1_000 * milliseconds for milliseconds in shown] == [milliseconds for _, milliseconds in decoded]
    for pixels, wanted in zip(pixels_of_frames, frames, strict=True):
        assert (pixels[..., :3] == np.asarray(wanted)).all()
        assert (pixels[..., 3] == 255).all()


FFMPEG = """#!/bin/sh
for last; do :; done
if grep -q refuse "$(dirname "$0")/mood"; then echo "Unknown encoder" >&2; exit 1; fi
wc -c > "$last"
"""


@pytest.mark.skipif(os.name == "nt", reason="the ffmpeg of this test is a shell script")
def test_ffmpeg_receives_every_frame_of_a_film(
    study: bpe.Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "film.mp4"
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(BpeError, match="MP4 films need ffmpeg, which was not found"):
        bpe.film(study, path, seconds=1)
    program = tmp_path / "ffmpeg"
    program.write_text(FFMPEG)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (tmp_path / "mood").write_text("willing")
    bpe.film(study, path, seconds=1)
    frames = 10 + 25 + 10  # the first frame and the last frame are shown longer
    assert int(path.read_text()) == frames * 800 * 420 * 3
    (tmp_path / "mood").write_text("refuse")
    with pytest.raises(BpeError, match=r"ffmpeg could not make .*Unknown encoder"):
        bpe.film(study, path, seconds=1)


def test_filming_reports_progress_and_can_be_cancelled(study: bpe.Study, tmp_path: Path) -> None:
    reports = list[Progress]()
    path = tmp_path / "film.gif"
    with pytest.raises(Cancelled):
        bpe.film(study, path, work=Work(reports.append, lambda: len(reports) > 4))
    assert [report.done for report in reports] == [0, 1, 2, 3, 4]
    assert [*tmp_path.iterdir()] == []


def test_mistakes_in_film_options_are_reported_in_an_error_message(study: bpe.Study, tmp_path: Path) -> None:
    mistakes: list[tuple[dict[str, Any], str]] = [
        ({"path": "film.jpg"}, "must end in one of .png"),
        ({"seconds": 0.0}, "1 to 120 seconds"),
        ({"seconds": float("nan")}, "1 to 120 seconds"),
        ({"size": "poster"}, "readme, chat, slide"),
        ({"first": 60}, "There are no steps from 60 to 60. The merges go from 0 to 60"),
        ({"first": 9, "last": 3}, "There are no steps from 9 to 3"),
        ({"given": {"a": study, "b": study, "c": study}}, "one run or two, not 3"),
        ({"given": study.at(0)}, "There are no steps"),
    ]
    for wrong, message in mistakes:
        given: dict[str, Any] = {"given": study, "path": "film.png"} | wrong
        given["path"] = tmp_path / str(given["path"])
        with pytest.raises(BpeError, match=message):
            bpe.film(**given)
