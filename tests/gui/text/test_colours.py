"""Tests of the colours of the token text.

They read pixels of the screen. They also check that people with any colour vision can distinguish the colours.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor, QImage, QPalette
from pytestqt.qtbot import QtBot

from app.window.text.colours import (
    COLOURS,
    UNCOLOURED,
    UNKNOWN,
    Ages,
    Rarity,
    Scale,
    colour_of,
    coloured_tokens,
    colours_of,
)
from app.window.text.text_model import NO_TOKEN, Tokens
from app.window.text.view.editor import TokenTextEdit
from app.window.text.view.ids_view import IdsGrid
from app.window.text.view.palette import DARK_FILLS, LIGHT_FILLS, TokenPalette
from app.window.text.view.text_panel import figures
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.segmenting.boundaries import Boundaries
from bpe_core.studies.making import train
from tests.gui.text.conftest import LANGUAGES, dark, light, middle_of


def pixels_of(editor: TokenTextEdit) -> Callable[[QPoint], QColor]:
    picture: QImage = editor.viewport().grab().toImage()
    return lambda point: QColor(picture.pixel(point))


@pytest.mark.parametrize("cursor", [0, 40, 97])
@pytest.mark.parametrize("text", [LANGUAGES, "ab " * 3000, "a" * 5000], ids=["languages", "long line", "one word"])
def test_every_character_on_screen_has_the_colour_of_its_token(
    show_editor: Callable[..., TokenTextEdit], text: str, cursor: int
) -> None:
    editor = show_editor(text, cursor=cursor)
    model = editor.model
    tokens = model.tokens_between(0, model.byte_length)
    colours = colours_of(model.data, tokens)
    pixel = pixels_of(editor)
    checked = 0
    for block in editor.visible_blocks():
        for row in block.rows:
            begins, ends = row.cells.begins, row.cells.ends
            top = round(block.y + row.y) + 1
            if not 0 <= top < editor.viewport().height():
                continue
            for byte in range(row.byte_count):
                if abs(ends[byte] - begins[byte]) < 4:
                    continue  # too narrow to look between the hairlines
                index = int(np.searchsorted(tokens.edges, block.start + row.first_byte + byte, side="right")) - 1
                point = QPoint(int((begins[byte] + ends[byte]) / 2), top)
                assert pixel(point) == LIGHT_FILLS[colours[index]], (byte, block.start)
                checked += 1
    assert checked > 30


def test_the_line_between_two_tokens_is_darker_than_both_tokens(show_editor: Callable[..., TokenTextEdit]) -> None:
    editor = show_editor("aa bb", cursor=200)
    x = editor.rectangle_of(2).left()
    pixel = pixels_of(editor)
    line = [pixel(QPoint(x + i, 4)).lightness() for i in (-4, -3, -1, 0, 1, 3, 4)]
    assert min(line) < min(line[0], line[-1]) - 40


def test_moving_the_time_slider_changes_token_colours_and_a_text_without_tokens_has_no_colour(
    show_editor: Callable[..., TokenTextEdit],
) -> None:
    editor = show_editor("abcdefghij klmnop", cursor=0)
    before = editor.viewport().grab().toImage()
    editor.model.set_cursor(97)
    after = editor.viewport().grab().toImage()
    assert before != after
    editor.model.accept(editor.model.revision, 0, Boundaries.unknown(editor.model.data))
    assert pixels_of(editor)(middle_of(editor, 3) - QPoint(0, 8)) == QColor(editor.palette().base().color())


@pytest.mark.parametrize("scale", [None, Ages(256, 10)])
def test_the_unknown_token_is_shown_with_hatching_in_the_text_and_in_the_id_grid(
    qtbot: QtBot, show_editor: Callable[..., TokenTextEdit], scale: Scale | None
) -> None:
    editor = show_editor("low wow")
    model, known = editor.model, editor.viewport().grab().toImage()
    history = train(["low low wide"], "words", base="characters", unknown="unk", merges=2).history
    model.set_text("low 東東 low")
    model.colour_by(scale)
    segmentation = Tokenizer(history).segmentation(model.text())
    assert history.alphabet.unknown_id is not None
    model.use_history(history)
    model.accept(model.revision, 0, segmentation, 2)
    _, colours = coloured_tokens(model.tokens_between, model.data, 0, 14, scale, model.unknown_id)
    unknown = int((model.tokens_between(0, 14).ids == history.alphabet.unknown_id).sum())
    assert (colours == UNKNOWN).sum() == unknown == model.counts().unknown > 0
    assert f"{unknown} unknown" in figures(model.counts())
    assert model.counts().unknown_bytes == len("東東".encode())
    ratio = (model.byte_length - len("東東".encode())) / (model.token_count() - unknown)
    assert f"{ratio:.2f} bytes per known token" in figures(model.counts())
    grid = IdsGrid(model)
    qtbot.addWidget(grid)
    grid.resize(300, 200)
    grid.show()
    place, cell = editor.rectangle_of(5), grid.cell_of(colours.tolist().index(UNKNOWN)).toRect()
    faint = TokenPalette.matching(editor.palette()).faint
    for picture, area in ((editor.viewport().grab(), place), (grid.viewport().grab(), cell)):
        pixel = picture.toImage().pixelColor
        row = [pixel(QPoint(x, area.top() + 3)) for x in range(area.left() + 2, area.left() + 16)]
        assert faint in row, "lines"
        assert editor.palette().base().color() in row, "on paper"
    assert faint not in [known.pixelColor(x, 4) for x in range(6, 40)]


def test_token_colours_change_immediately_with_the_light_or_dark_palette(
    show_editor: Callable[..., TokenTextEdit],
) -> None:
    editor = show_editor("some words to see")
    point = middle_of(editor, 1) - QPoint(0, 9)
    assert pixels_of(editor)(point) in LIGHT_FILLS
    editor.setPalette(dark())
    assert pixels_of(editor)(point) in DARK_FILLS
    assert pixels_of(editor)(QPoint(2, 2)) == QColor("#17191c")


@pytest.mark.parametrize("window", [light(), dark()], ids=["light", "dark"])
def test_neighbouring_tokens_coloured_by_age_have_different_shades_and_a_line_between_them(
    show_editor: Callable[..., TokenTextEdit], window: QPalette
) -> None:
    editor = show_editor("aaaaaaaaaaaa", cursor=0)
    editor.model.colour_by(Ages(256, 10))
    editor.setPalette(window)
    edges = editor.model.tokens_between(0, 12).edges[1:-1].tolist()
    assert edges
    pixel = pixels_of(editor)
    for edge in edges:
        x = editor.rectangle_of(edge).left()
        left, right = ({pixel(QPoint(x + i, 4)).lightness() for i in places} for places in ((-4, -3), (3, 4)))
        assert len(left) == len(right) == 1
        assert left != right
        across = [pixel(QPoint(x + i, 4)).lightness() for i in (-1, 0, 1)]
        assert max(abs(lightness - max(left)) for lightness in across) > 15


pieces = st.lists(
    st.sampled_from([b"a", b"b", b" the", b"he", b"\xf0\x9f", b"\x00", b"\xff" * 40]), min_size=1, max_size=40
)


def tokens_of(texts: list[bytes]) -> Tokens:
    return Tokens(np.append(0, np.cumsum([len(text) for text in texts])).astype(np.int64), np.arange(len(texts)))


@given(pieces)
def test_a_token_keeps_the_colour_of_its_text_unless_its_neighbour_has_the_same_colour(texts: list[bytes]) -> None:
    colours = colours_of(b"".join(texts), tokens_of(texts)).tolist()
    own = [colour_of(text) for text in texts]
    kept = [now == colour for now, colour in zip(colours, own, strict=True)]
    assert all(here or before for before, here in pairwise(kept)), "one of two neighbours keeps its own"
    assert all(keeps or own[place] == own[place - 1] for place, keeps in enumerate(kept)), "without need none changes"
    assert set(colours) <= set(range(COLOURS))


@given(pieces)
def test_neighbouring_tokens_never_have_the_same_colour(texts: list[bytes]) -> None:
    colours = colours_of(b"".join(texts), tokens_of(texts)).tolist()
    assert all(before != after for before, after in pairwise(colours))


@pytest.mark.parametrize("size", [1, 2])
def test_scrolling_over_many_equal_letters_changes_no_token_colour(size: int) -> None:
    data = b"a" * 60_000

    def between(start: int, stop: int) -> Tokens:
        first, last = start // size, -(-stop // size)
        return Tokens(np.arange(first, last + 1) * size, np.full(last - first, 97))

    seen: dict[int, int] = {}
    for start in range(20_000, 40_000, 777):
        tokens, colours = coloured_tokens(between, data, start, start + 900)
        assert (colours[1:] != colours[:-1]).all()
        for place, colour in zip(tokens.edges.tolist(), colours.tolist(), strict=False):
            assert seen.setdefault(place, colour) == colour


SCALES = st.sampled_from([None, Ages(2, 40), Ages(256, 10), Rarity(np.array([900, 30, 0, 5, 5, 4]))])


@given(pieces, st.data(), SCALES)
def test_tokens_of_a_range_have_the_same_colours_as_in_the_whole_text(
    texts: list[bytes], data: st.DataObject, scale: Scale | None
) -> None:
    whole, text = tokens_of(texts), b"".join(texts)
    whole.ids[[text == b"\x00" for text in texts]] = NO_TOKEN

    def between(start: int, stop: int) -> Tokens:
        first = int(np.searchsorted(whole.edges, start, side="right")) - 1
        last = int(np.searchsorted(whole.edges, stop, side="left"))
        return Tokens(whole.edges[first : last + 1], whole.ids[first:last])

    start = data.draw(st.integers(0, len(text) - 1))
    stop = data.draw(st.integers(start + 1, len(text)))
    tokens, colours = coloured_tokens(between, text, start, stop, scale)
    first = int(np.searchsorted(whole.edges, tokens.edges[0]))
    assert tokens.edges[0] <= start < tokens.edges[1]
    assert tokens.edges[-2] < stop <= tokens.edges[-1]
    _, expected = coloured_tokens(between, text, 0, len(text), scale)
    np.testing.assert_array_equal(colours, expected[first : first + len(tokens)])
    if scale is None:
        np.testing.assert_array_equal(expected, colours_of(text, whole))
    else:
        np.testing.assert_array_equal(expected % COLOURS, np.where(expected < 0, expected, scale.colours_of(whole)) % 6)
        assert all(before != after or before < 0 for before, after in pairwise(expected.tolist())), "neighbours differ"


def test_token_colours_are_used_about_equally_often_and_text_without_tokens_has_no_colour() -> None:
    texts = [str(number).encode() for number in range(3_000)] + [bytes([byte]) for byte in range(256)]
    shares = np.bincount(colours_of(b"".join(texts), tokens_of(texts)), minlength=COLOURS) / len(texts)
    assert shares.min() > 0.8 / COLOURS
    mixed = Tokens(np.array([0, 1, 3, 4, 6, 7]), np.array([NO_TOKEN, 5, 6, NO_TOKEN, 7]))
    expected = [UNCOLOURED, colour_of(b"yz"), colour_of(b"a"), UNCOLOURED, colour_of(b"d")]
    assert colours_of(b"xyzabcd", mixed).tolist() == expected


# Machado, Oliveira and Fernandes (2009): what linear red, green and blue become where one kind of cone is missing.
VISIONS = {
    "full": np.eye(3),
    "no red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no blue": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
JUST_NOTICEABLE = 0.02  # in OKLab
Floats = npt.NDArray[np.float64]


def linear(colour: QColor) -> Floats:
    channels = np.array([colour.redF(), colour.greenF(), colour.blueF()])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def oklab(rgb: Floats) -> Floats:
    cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    lab = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return cast(Floats, lab @ np.cbrt(cones @ np.clip(rgb, 0, 1)))


def contrast(first: QColor, second: QColor) -> float:
    """Return the contrast of two colours as the Web Content Accessibility Guidelines define it.

    The guidelines demand a contrast of 4.5 or more.
    """
    weights = np.array([0.2126, 0.7152, 0.0722])
    dark_one, light_one = sorted((float(weights @ linear(first)), float(weights @ linear(second))))
    return (light_one + 0.05) / (dark_one + 0.05)


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("window", [light(), dark()], ids=["light", "dark"])
def test_token_colours_differ_visibly_for_every_kind_of_colour_vision(window: QPalette, vision: str) -> None:
    palette = TokenPalette.matching(window)
    seen = [oklab(VISIONS[vision] @ linear(fill)) for fill in (*palette.fills, palette.paper)]
    distances = [float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2)]
    assert min(distances) > 2.5 * JUST_NOTICEABLE


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("window", [light(), dark()], ids=["light", "dark"])
def test_the_colours_of_a_scale_can_be_ordered_with_every_kind_of_colour_vision(window: QPalette, vision: str) -> None:
    palette = TokenPalette.matching(window)
    seen = [oklab(VISIONS[vision] @ linear(fill)) for fill in palette.scale]
    twins = [oklab(VISIONS[vision] @ linear(fill)) for fill in palette.on_scale[COLOURS:]]
    assert min(float(np.linalg.norm(a - b)) for a, b in zip(seen, twins, strict=True)) > JUST_NOTICEABLE
    assert min(float(np.linalg.norm(a - b)) for a, b in pairwise(seen)) > JUST_NOTICEABLE
    away = [float(np.linalg.norm(colour - seen[0])) for colour in seen]
    assert away == sorted(away)


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("window", [light(), dark()], ids=["light", "dark"])
def test_the_colour_that_marks_differences_stands_out_for_every_kind_of_colour_vision(
    window: QPalette, vision: str
) -> None:
    palette = TokenPalette.matching(window)
    mark, *others = (oklab(VISIONS[vision] @ linear(colour)) for colour in (palette.mark, palette.ink, *palette.fills))
    assert min(float(np.linalg.norm(mark - other)) for other in others) > 11 * JUST_NOTICEABLE


@pytest.mark.parametrize("window", [light(), dark()], ids=["light", "dark"])
def test_letters_contrast_with_every_token_colour_whether_selected_or_not(window: QPalette) -> None:
    palette = TokenPalette.matching(window)
    assert len(palette.fills) == COLOURS
    assert len(palette.scale) == COLOURS
    for fill in (*palette.fills, *palette.on_scale, palette.paper):
        assert contrast(palette.ink, fill) >= 4.5
        assert contrast(palette.ink, selected_fill(palette, fill)) >= 4.5
        assert contrast(palette.outline, fill) >= 3


def selected_fill(palette: TokenPalette, fill: QColor) -> QColor:
    """Return the colour of a token with the colour of the selection painted over it."""
    over, share = palette.selection, palette.selection.alphaF()
    pairs = (fill.redF(), over.redF()), (fill.greenF(), over.greenF()), (fill.blueF(), over.blueF())
    return QColor.fromRgbF(*(below * (1 - share) + above * share for below, above in pairs))
