"""Tests of the view of a word in the room Watch."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from app.window.rooms.my_word import WordTiles, word_tiles
from app.window.rooms.word_view import WordView
from app.window.text.view.palette import TokenPalette
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.studies.making import train


def colours_of(view: WordView, cut: WordTiles) -> set[str]:
    view.show_tiles(cut, slides=False)
    image = view.grab().toImage()
    return {image.pixelColor(QPoint(x, y)).name() for x in range(image.width()) for y in range(image.height())}


def test_the_watched_word_shows_unknown_tokens_with_hatching_and_neighbours_in_different_colours(qtbot: QtBot) -> None:
    view = WordView()
    qtbot.addWidget(view)
    view.resize(400, 90)
    palette = TokenPalette.matching(view.palette())
    history = train(["low"], "words", base="characters", unknown="unk", merges=0).history
    unknown, known = (
        word_tiles(word, Tokenizer(history).segmentation(word).tokens(0), 0, history.alphabet.unknown_id)
        for word in ("東", "ll")
    )
    assert [tile.unknown for tile in unknown.tiles] == [1]
    assert [tile.unknown for tile in known.tiles] == [0, 0]
    fills = {fill.name() for fill in palette.fills}
    assert not colours_of(view, unknown) & fills
    assert len(colours_of(view, known) & fills) == 2


def test_the_first_token_of_a_right_to_left_word_is_on_the_right(qtbot: QtBot) -> None:
    view = WordView()
    qtbot.addWidget(view)
    view.resize(700, 120)
    history = train(["محمد"], "gpt2", merges=0).history
    words = {"right": "محمد", "left": "mhmd"}
    places = {}
    for side, word in words.items():
        cut = word_tiles(word, Tokenizer(history).segmentation(word).tokens(0), 0, 0)  # as if byte 0 were unknown
        hatched = replace(cut, tiles=(replace(cut.tiles[0], unknown=1), *cut.tiles[1:]))
        view.show_tiles(cut, slides=False)
        plain = view.grab().toImage()
        view.show_tiles(hatched, slides=False)
        marked = view.grab().toImage()
        pixels = [(x, y) for x in range(plain.width()) for y in range(plain.height())]
        places[side] = [x for x, y in pixels if plain.pixel(x, y) != marked.pixel(x, y)]
    assert min(places["right"]) > view.width() / 2 > max(places["left"])


def test_each_row_of_a_long_right_to_left_word_begins_on_the_right(qtbot: QtBot) -> None:
    view = WordView(most_rows=60)
    qtbot.addWidget(view)
    word = "محمد" * 8
    history = train([word], "gpt2", merges=0).history
    cut = word_tiles(word, Tokenizer(history).segmentation(word).tokens(0), 0)
    view.resize(260, 0)
    view.show_tiles(cut, slides=False)
    view.resize(260, view.heightForWidth(260))
    view.grab()
    targets = [target for target in view.targets if not target.is_split]
    rows: dict[float, list[float]] = {}
    for target in targets:  # in the order of reading
        rows.setdefault(target.area.top(), []).append(target.area.left())
    assert len(rows) > 2
    assert all(lefts == sorted(lefts, reverse=True) for lefts in rows.values())
    assert list(rows) == sorted(rows)
    assert len(targets) == len(cut.tiles)
    assert max(target.area.bottom() for target in targets) <= view.height()


def test_letters_of_an_arabic_word_are_joined_across_token_tiles(qtbot: QtBot) -> None:
    """The letter م has a different shape on its own than between other letters."""
    view = WordView()
    qtbot.addWidget(view)
    view.resize(700, 120)
    history = train(["محمد"], "gpt2", merges=0).history
    inks = []
    for word in ("ممم", "م م م"):
        view.show_tiles(word_tiles(word, Tokenizer(history).segmentation(word).tokens(0), 0, None), slides=False)
        image, ink = view.grab().toImage(), TokenPalette.matching(view.palette()).ink.rgb()
        inks.append(sum(image.pixel(x, y) == ink for x in range(image.width()) for y in range(image.height())))
    assert inks[0] != inks[1]


def test_a_tile_of_several_tokens_shows_all_their_ids() -> None:
    cut = word_tiles("é", Tokenizer(train(["low"], "gpt2", merges=0).history).segmentation("é").tokens(0), 0, None)
    (tile,) = cut.tiles
    assert (tile.tokens, tile.ids, tile.id) == (2, (0xC3, 0xA9), None)


def test_numbers_below_the_tiles_are_not_cut_off_at_any_font_size(qtbot: QtBot) -> None:
    """At its minimum height, the view paints as many rows of pixels as at a greater height."""
    view = WordView()
    qtbot.addWidget(view)
    history = train(["low"], "gpt2", merges=0).history
    view.show_tiles(word_tiles("low", Tokenizer(history).segmentation("low").tokens(0), 0, None), slides=False)
    for size in (8, 13, 24):
        font = view.font()
        font.setPointSize(size)
        view.setFont(font)
        height = view.minimumSizeHint().height()
        rows = []
        for more in (0, 40):
            view.resize(500, height + more)
            image, empty = view.grab().toImage(), view.palette().window().color()
            rows.append(sum(any(image.pixelColor(x, y) != empty for x in range(500)) for y in range(height + more)))
        assert rows[0] == rows[1]
