"""A test of the sentence about a run that waits for machine code."""

from __future__ import annotations

import pytest

from app.session.run import Phase
from app.window.training.run_status import sentence_of
from bpe_core.kernels.readiness import MACHINE_CODE, PLAIN, MachineCode
from tests.gui.histories import random_history, run_with


@pytest.mark.parametrize(
    ("machine_code", "sentence"),
    [
        (MachineCode(0.4, is_being_made=True, way=PLAIN, why=""), "Machine code is being made: 40 %"),
        (MachineCode(1.0, is_being_made=False, way=MACHINE_CODE, why=""), "Preparing …"),
    ],
)
def test_the_status_of_a_waiting_run_shows_the_progress_of_compilation(
    machine_code: MachineCode, sentence: str
) -> None:
    run = run_with(random_history(1))
    run.phase = Phase.PREPARING
    assert sentence_of(run, machine_code) == sentence
