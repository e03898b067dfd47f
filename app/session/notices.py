"""What the session has to tell, for the bar inside the window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    title: str
    act: Callable[[], object]


@dataclass(frozen=True)
class Notice:
    sentence: str
    details: str = ""
    is_error: bool = True
    answers: tuple[Answer, ...] = ()
    can_wait: bool = False  # it answers nothing that a person did just now
