"""Tests of the list of presets: a heading in the list cannot be chosen as a preset."""

from __future__ import annotations

import pytest

from app.wiring import Program

pytestmark = pytest.mark.usefixtures("only_window")


def test_a_heading_in_the_preset_list_cannot_be_chosen_as_a_preset(program: Program) -> None:
    """In an older version, pressing a key in the list led to the message "There is no preset None"."""
    box, before = program.recipe_panel.preset, program.session.recipe.value
    headings = [place for place in range(box.count()) if box.itemData(place) is None]
    assert headings
    for place in (*headings, -1):
        box.activated.emit(place)
    assert program.session.recipe.value == before
    box.activated.emit(box.findData("words"))
    assert program.session.recipe.value.name == "words"
