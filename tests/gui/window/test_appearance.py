"""Tests of the look of the window.

No part covers another part, and every text differs in colour from its background.
"""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPixmap
from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.session.run import Phase
from app.window.charts.pairs_page import PairsPage
from app.window.parts.figure_sheet import paper_on_screen
from app.window.parts.theme import Role, fixed_font, palette_for, shades_of
from app.window.questions.token.page import TokenPage
from app.window.time.bar import TimeTrack
from app.wiring import Program
from bpe_core.figures.coloured_text import PAGE_COLOURS
from bpe_core.figures.figure import Line
from bpe_core.figures.sheet import Paper
from tests.gui.conftest import WAIT, Train, settle, wait_for_phase


def brightness(color: QColor) -> float:
    """Return the relative luminance of a colour, from 0 to 1."""
    parts = np.array([color.redF(), color.greenF(), color.blueF()])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(first: QColor, second: QColor) -> float:
    darker, lighter = sorted((brightness(first), brightness(second)))
    return (lighter + 0.05) / (darker + 0.05)


def test_a_check_box_contrasts_with_its_background(program: Program) -> None:
    box: QCheckBox = program.merge_panel.ties_only
    for theme in ("light", "dark"):
        program.theme.choose(theme)
        for checked in (False, True):
            box.setChecked(checked)
            picture = program.merge_panel.grab().toImage()
            place = box.mapTo(program.merge_panel, QPoint(0, box.height() // 2))
            ground = picture.pixelColor(place.x() - 3, place.y())
            across = [picture.pixelColor(place.x() + x, place.y()) for x in range(16)]
            assert max(contrast(color, ground) for color in across) >= 3  # what guidelines ask of a control's edge


@pytest.mark.parametrize("kind", ["light", "dark"])
@pytest.mark.parametrize("ground", [Role.Window, Role.Base])
def test_all_text_colours_have_enough_contrast_in_both_themes(kind: str, ground: Role) -> None:
    palette = palette_for(kind)
    shades = shades_of(palette)
    written = [palette.color(role) for role in (Role.Text, Role.WindowText, Role.PlaceholderText, Role.Link)]
    for color in (*written, shades.muted, shades.error):
        assert contrast(color, palette.color(ground)) >= 4.5, color.name()


@pytest.mark.parametrize("kind", ["light", "dark"])
def test_figures_have_the_same_colours_in_the_window_and_in_print(kind: str) -> None:
    palette = palette_for(kind)
    inks = Paper.of_millimetres(100, 80, 9, is_dark=kind == "dark").inks
    shades = shades_of(palette)
    assert paper_on_screen(100, 80, QFont(), palette).inks == inks
    assert [shades.bar.name(), shades.bar_next.name(), shades.bar_tied.name()] == [inks.bar, inks.next, inks.tied]
    assert all(f"{name}: {ink};" in PAGE_COLOURS for name, ink in (("--bar", inks.bar), ("--mark", inks.next)))
    assert contrast(QColor(inks.text), QColor(inks.ground)) >= 4.5


def test_the_sentence_above_the_bars_of_the_pairs_chart_does_not_overlap_the_bars(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    program.form.choose(vocab_size=400)
    train(program)
    chart = program.pages[PairsPage]
    # Nothing but the drawing knows where it draws, and two things drawn in one place are what is looked for.
    one_line = chart._headline_place().height()
    assert chart._headline_place().bottom() < chart._top()
    chart.resize(260, 300)
    assert chart._headline_place().height() > one_line
    assert chart._headline_place().bottom() < chart._top()


def test_the_headline_of_the_pairs_chart_says_that_further_pairs_may_have_the_same_count(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    train(program)  # in the end, hundreds of pairs occur twice
    page = program.pages[PairsPage]
    assert all(bar.is_tied for bar in page.model.bars)
    assert f"{len(page.model.bars)} or more pairs have the same count" in page.headline()
    program.session.cursor.go_to(20)
    settle(qtbot, program)
    assert "or more" not in program.pages[PairsPage].headline()


def test_the_title_of_the_speed_slider_stays_beside_the_slider(qtbot: QtBot, program: Program) -> None:
    program.window.resize(1920, 1080)
    qtbot.wait(1)
    title = next(label for label in program.speed.findChildren(QLabel) if label.text() == "Speed")
    assert program.speed.slider.x() - title.geometry().right() < 30


def test_the_tie_column_is_wide_enough_for_a_runner_up(program: Program) -> None:
    table = program.merge_panel.table
    tie = next(place for place, column in enumerate(program.merges.columns) if column.look == "tie")
    room = table.columnWidth(tie) - 12
    assert room >= QFontMetrics(fixed_font(table.font().pointSizeF())).horizontalAdvance("= ␣th + ing")


def test_the_curve_in_the_time_slider_reaches_the_shown_step(qtbot: QtBot) -> None:
    track = TimeTrack()
    qtbot.addWidget(track)
    track.resize(400, 44)
    track.setMaximum(200)
    curve = Line("", np.array([0.0, 100.0]), np.array([1.0, 2.0]))  # as it was a moment ago
    track.show_curve(curve)
    # The shapes are only ever painted; pixels do not show whether a line ends early.
    line, area = track._shapes(track._track(), curve)
    assert line.at(line.size() - 1).x() == area.at(area.size() - 2).x() == track._track().right()
    picture = QPixmap(track.size())
    track.render(picture)  # and it can be drawn


def parts_in_sight(program: Program) -> list[str]:
    inspector = program.pages[TokenPage]
    return [button.text() for button in inspector.findChildren(QPushButton) if button in inspector.parts]


def test_the_token_page_shows_the_parts_of_the_current_token_while_steps_are_played(
    qtbot: QtBot, program: Program
) -> None:
    program.speed.slider.setValue(50)
    program.actions["main"].trigger()
    qtbot.waitUntil(lambda: program.merges.rowCount() > 20, timeout=WAIT)
    for _ in range(10):
        qtbot.wait(5)
        facts = program.token.facts
        assert facts is not None
        assert parts_in_sight(program) == list(facts.part_texts)
    program.actions["stop"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
