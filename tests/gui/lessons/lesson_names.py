"""A function that finds a lesson by its name."""

from __future__ import annotations

from bpe_core.lessons.lessons import Lesson, lessons

NAMES = [lesson.name for lesson in lessons()]


def lesson_named(part: str) -> Lesson:
    return next(lesson for lesson in lessons() if part in lesson.name)
