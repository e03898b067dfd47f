"""Tests of values whose changes can be undone, and of the step shown."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from app.session.changes import Steps, UndoableValue, _Replacement
from app.session.corpus_texts import CorpusText, without
from app.session.time import TimeCursor
from app.window.corpus.groups import move_texts, shift_rows, texts_of
from tests.shared import PATIENCE, ROOT


@given(st.lists(st.integers(0, 3), max_size=20), st.integers(0, 25))
def test_undo_and_redo_restore_each_value_in_order(values: list[int], steps: int) -> None:
    stack = Steps()
    held: UndoableValue[int] = UndoableValue(0, stack)
    states = [0]
    for value in values:
        held.put(value, "Change")
        if value != states[-1]:
            states.append(value)
    back = min(steps, len(states) - 1)
    for _ in range(back):
        stack.undo()
    assert held.value == states[len(states) - 1 - back]
    for _ in range(back):
        stack.redo()
    assert held.value == states[-1]


def test_consecutive_changes_with_the_same_name_are_undone_in_one_step() -> None:
    stack = Steps()
    held: UndoableValue[int] = UndoableValue(0, stack)
    for value in (1, 2, 3):
        held.put(value, "Size", joins=True)
    held.put(4, "Other", joins=True)
    stack.undo()
    assert held.value == 3
    stack.undo()
    assert held.value == 0


def test_listeners_of_an_undoable_value_are_called_only_when_the_value_changes() -> None:
    held: UndoableValue[int] = UndoableValue(1, Steps())
    heard: list[int] = []
    held.changed.connect(heard.append)
    for value in (1, 2, 2):
        held.put(value, "Change")
    held.put_quietly(2)
    held.put_quietly(5)
    assert heard == [2, 5]


MOVES = st.lists(
    st.tuples(st.just("end"), st.integers(0, 50))
    | st.tuples(st.just("go"), st.integers(-5, 60))
    | st.tuples(st.just("live"), st.just(0)),
    max_size=20,
)


@given(MOVES)
def test_the_time_slider_stays_at_the_end_of_a_growing_run_unless_the_user_moved_the_slider(
    moves: list[tuple[str, int]],
) -> None:
    cursor = TimeCursor()
    end, position, live = 0, 0, True
    for move, value in moves:
        if move == "end":
            end = value
            cursor.set_end(value)
        elif move == "go":
            live = False
            position = value
            cursor.go_to(value)
        else:
            live = True
            cursor.go_live()
        position = end if live else min(max(position, 0), end)
        assert (cursor.end, cursor.position, cursor.live) == (end, position, live)


@given(st.permutations(range(5)), st.integers(0, 4), st.integers(0, 4))
def test_moving_a_corpus_text_keeps_all_other_texts_in_order(order: list[int], which: int, place: int) -> None:
    sources = tuple(CorpusText(str(number), text="x") for number in order)
    chosen = sources[which]
    after = texts_of(move_texts(list(sources), [which], place))
    assert after[place] is chosen
    assert without(after, {chosen.number}) == without(sources, {chosen.number})
    down = texts_of(shift_rows(list(sources), range(which, len(order)), 1))
    assert down == sources, "who stands at the end holds up those behind"
    if which:
        up = texts_of(shift_rows(list(sources), range(which, len(order)), -1))
        assert up == (*sources[: which - 1], *sources[which:], sources[which - 1])


def test_undo_steps_that_were_discarded_are_freed() -> None:
    """An undo step holds the old and the new value, which may be a whole corpus."""
    stack = Steps()
    held: UndoableValue[list[int]] = UndoableValue([], stack)
    for value in range(20):
        held.put([value], "Size", joins=True)
    stack.undo()
    held.put([21], "Other")
    stack.clear()
    held.put([22], "Last")
    gc.collect()
    # Which value a step belongs to tells it from the steps of other tests.
    steps = [
        thing
        for thing in gc.get_objects()
        if type(thing) is _Replacement and getattr(thing._act, "__self__", None) is held
    ]
    assert len(steps) == 1


UNREACHABLE_STACK = """
import gc
import os
import subprocess
import sys
from PySide6.QtGui import QUndoCommand
from app.session.changes import Steps
gc.disable()
for _ in range(100):
    steps = [QUndoCommand() for _ in range(3)]  # older than their stack: freed before it
    stack = Steps()
    for step in steps:
        stack.push(step)
        step.stack = stack
    stack.itself = stack
    del step, steps, stack
    gc.collect()
"""


def test_deleting_an_undo_stack_frees_each_of_its_steps_only_once() -> None:
    """If the steps were freed before their stack, the program would crash when the freed memory is overwritten."""
    overwriting = {"GLIBC_TUNABLES": "glibc.malloc.perturb=165", "PYTHONPATH": str(ROOT)}
    subprocess.run(
        [sys.executable, "-c", UNREACHABLE_STACK], env=os.environ | overwriting, check=True, timeout=PATIENCE
    )


def test_a_change_after_undo_begins_a_new_undo_step() -> None:
    stack = Steps()
    held: UndoableValue[int] = UndoableValue(0, stack)
    held.put(1, "Size", joins=True)
    held.put(2, "Size")
    stack.undo()
    held.put(3, "Size", joins=True)
    assert stack.count() == 2
    stack.undo()
    assert held.value == 1


def test_a_change_caused_by_undo_adds_no_undo_step() -> None:
    """A new undo step would delete the steps that can be redone."""
    stack = Steps()
    held: UndoableValue[int] = UndoableValue(0, stack)
    other: UndoableValue[int] = UndoableValue(0, stack)
    held.changed.connect(lambda value: other.put(10 * value, "Follow"))
    held.put(1, "Lead")
    assert stack.count() == 1
    stack.undo()
    assert (held.value, other.value) == (0, 0)
    stack.redo()
    assert (held.value, other.value, stack.count()) == (1, 10, 1)
