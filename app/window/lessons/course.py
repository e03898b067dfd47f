"""The lesson that a user takes.

A lesson replaces the corpus and the recipe of the session. When it ends, it restores the user's own corpus and
recipe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from app.session.run import Phase, Run
from app.session.session import Session
from app.window.lessons.lesson_values import RaceOfStep
from app.window.text.text_model import TokenTextModel
from bpe_core.lessons.answers import (
    BETWEEN_PARTS,
    Feedback,
    candidates,
    how_to_write,
    pair_of,
    reply_to_guess,
    reply_with_answer,
    text_of_step,
)
from bpe_core.lessons.bench import Bench, WordNow
from bpe_core.lessons.fast_trainers import RACED, CountedWord, words_of_race
from bpe_core.lessons.lessons import Lesson, LessonStep, filled, reply_to_answer, right_answer_shown

COUNTING = "Words are being counted. The lesson can begin when counting has ended."
BROUGHT = "The lesson has ended because you added a text. The text is in the corpus, with your earlier texts."
MOST_BENCHES = 8
LEAST_RACED = 100  # characters
LOOKED = (
    "You have looked at the window, which shows the answer. You can still answer, but this answer does not count "
    "as right."
)


@dataclass(frozen=True)
class Reply:
    is_done: bool = False
    feedback: Feedback | None = None
    after: str = ""
    ruled_out: tuple[str, ...] = ()  # choices that were wrong
    run: Run | None = None  # the run of the reply; `at` is its step
    at: int = 0


NO_REPLY = Reply()


@dataclass(frozen=True)
class LessonPage:
    step: LessonStep
    number: int  # from 1
    total: int
    say: str
    candidates: tuple[str, ...] = ()  # the pairs to choose from for the next merge
    reply: Reply = NO_REPLY
    words: tuple[WordNow, ...] = ()
    newest: int | None = None  # the id of the token that was made last
    about: str = ""  # the uncut text of the question, if the words would show the answer
    race: RaceOfStep | None = None  # trainers that race in place of the words

    @property
    def asks_for_pair(self) -> bool:
        """Return whether the user has to name a pair.

        If the method drops tokens, the user names a token to drop instead.
        """
        return any(BETWEEN_PARTS in candidate for candidate in self.candidates)


class Course(QObject):
    """The lesson that a user takes. `page` is None if there is no lesson, and while the next step is prepared."""

    changed = Signal()
    moved = Signal(str, int)  # a lesson, and the step that was reached
    finished = Signal(str)  # a lesson

    def __init__(self, session: Session, text: TokenTextModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.lesson: Lesson | None = None
        self.number = 0
        self._asked, self._right = set[int](), set[int]()  # steps asked; right at the first try
        self._session = session
        self._text = text
        self._run: Run | None = None  # the run of the lesson
        self._replies: dict[int, Reply] = {}  # the replies, by step
        self._verdict: Feedback | None = None  # the reply to a guess, until its merge is made
        self._benches: dict[tuple[object, int], Bench] = {}
        self._race_words: tuple[str, Sequence[CountedWord]] | None = None  # a text, and its counted words
        self._counting_for_race: str | None = None
        session.runs.changed.connect(self._look)
        session.runs.grew.connect(lambda start, stop: self._look())
        session.cursor.moved.connect(lambda position: self.changed.emit())
        session.lesson_contents.changed.connect(self._lesson_contents_changed)
        session.corpus.texts.changed.connect(lambda sources: self._end_if_text_was_opened())

    # -- acting ----------------------------------------------------------------------------

    def begin(self, lesson: Lesson, number: int = 0) -> None:
        session = self._session
        if session.runs.waiting_for_counts:
            self._session.background.notify(COUNTING, is_error=False)
            return
        if session.lesson_contents.hidden is None:
            session.text.put_quietly(self._text.text())  # includes the latest typing
        self.lesson = lesson
        self.number = min(number, len(lesson.steps) - 1)
        for kept in (self._asked, self._right, self._replies):
            kept.clear()
        self._run = None
        self._arrive()
        self._text.replace(0, self._text.length, lesson.text)

    def say(self, given: str) -> bool:
        """Pass a guess or an answer to the lesson. Return whether the lesson accepts it."""
        return self.predict(given) if self.is_predicting else self.answer(given)

    def predict(self, pair: str) -> bool:
        """Compare a guess, such as `l + o`, with the pair of the next merge.

        Make the merge, unless the user may guess again. Return whether the merge is made.
        """
        bench = self.bench_of_step()
        if bench is None or self._run is None or not self.is_predicting or self.is_busy:
            return False
        chosen = pair_of(pair, bench)
        again = len(candidates(bench)) > 2 and not self._reply.ruled_out
        if chosen is None:
            self._note(Feedback("wrong", how_to_write(bench)))
            return False
        verdict = reply_to_guess(chosen, next(iter(bench.leading)), bench, again=again)
        self._count(verdict.mood == "right")
        if again and verdict.mood != "right":
            self._note(verdict, text_of_step(chosen, bench))
            return False
        self._verdict = verdict
        self._make_next_merge(self._run)
        self.changed.emit()
        return True

    def answer(self, given: str) -> bool:
        """Check an answer to the question of this step. Return whether it is right."""
        step = self.step
        bench = self.bench_of_step()
        if step is None or step.query is None or bench is None or self._reply.is_done or not given.strip():
            return False
        right = step.query.answer(bench)
        verdict = reply_to_answer(step, given, right)
        is_right = verdict.mood == "right"
        if is_right:
            self._done(verdict)
        else:
            self._note(verdict, given if given in step.choices else None)
        self._count(is_right)
        self.changed.emit()
        return is_right

    def show_answer(self) -> None:
        step = self.step
        bench = self.bench_of_step()
        if step is None or bench is None or self._reply.is_done or self.is_busy:
            return
        self._count(False)
        if step.query is not None:
            self._done(right_answer_shown(step.query.answer(bench)))
            self.changed.emit()
        elif self._run is not None:
            self._make_next_merge(self._run)

    def show_window(self) -> None:
        """Show the window, where the user can see the answer.

        An answer that the user gives after this does not count as right.
        """
        step = self.step
        if step is not None and step.kind != "read" and not self._reply.is_done and self.number not in self._asked:
            self._count(False)
            self._note(Feedback("shown", LOOKED))

    def _count(self, is_right: bool) -> None:
        if is_right and self.number not in self._asked:
            self._right.add(self.number)
        self._asked.add(self.number)

    def score(self) -> str:
        """Return a sentence that says how many guesses and answers were right on the first try."""
        right = len(self._right)
        asked = len(self._asked)
        praise = "Good." if 2 * right >= asked else "Mistakes help you to learn."
        if right == asked:
            praise = "Well done!"
        return f"{praise} {right} of {asked} answers were right at the first try." if asked else ""

    def _make_next_merge(self, run: Run) -> None:
        self._session.runs.show(run)
        self._session.runs.resume(merges=1)

    def next(self) -> None:
        """Go to the next step of the lesson. After the last step, the lesson is finished."""
        if self.lesson is None or self.step is None or self._run is None or not self.can_go_on:
            return
        if self.step.kind == "read":
            self._replies[self.number] = Reply(is_done=True, run=self._run, at=self.step.merges)
        self.number += 1
        if self.number == len(self.lesson.steps):
            self.finished.emit(self.lesson.name)
            self.changed.emit()
        else:
            self._arrive()

    def back(self) -> None:
        if self.lesson is not None and self.number > 0:
            self.number -= 1
            self._arrive()

    def leave(self) -> None:
        self._session.lesson_contents.end()

    # -- showing ---------------------------------------------------------------------------

    def name(self) -> str:
        """Return the name of the lesson, or an empty string if there is no lesson."""
        return self.lesson.name if self.lesson is not None else ""

    @property
    def step(self) -> LessonStep | None:
        if self.lesson is None or self.number >= len(self.lesson.steps):
            return None
        return self.lesson.steps[self.number]

    @property
    def is_at_end(self) -> bool:
        return self.lesson is not None and self.step is None

    @property
    def is_predicting(self) -> bool:
        """Return whether the next merge must stay hidden, because the user has to guess it."""
        return self.step is not None and self.step.kind == "predict" and not self._reply.is_done

    @property
    def is_busy(self) -> bool:
        run = self._run
        step = self.step
        if run is None or step is None:
            return False
        if run.phase is Phase.FAILED:
            return False
        return run.is_busy or run.history is None or (run.learned < step.merges and run.phase is not Phase.ENDED)

    @property
    def can_go_on(self) -> bool:
        step = self.step
        return step is not None and not self.is_busy and (step.kind == "read" or self._reply.is_done)

    def page(self) -> LessonPage | None:
        step = self.step
        bench = self.bench_of_step()
        if self.lesson is None or step is None or bench is None:
            return None
        reply = self._reply
        hides_words = step.hides_words and not reply.is_done
        shows_others = hides_words or step.is_about_others or bool(step.race)
        words, newest = ((), None) if shows_others else self._words_now()
        return LessonPage(
            step,
            self.number + 1,
            len(self.lesson.steps),
            say=filled(step.say, step, bench),
            candidates=tuple(text_of_step(pair, bench) for pair in candidates(bench)) if step.kind == "predict" else (),
            reply=reply,
            words=words,
            newest=newest,
            about=step.subject if hides_words else "",
            race=self._race_of(step) if step.race else None,
        )

    def _race_of(self, step: LessonStep) -> RaceOfStep | None:
        """Return the race that a step shows. Return None while the words of the text are being counted."""
        own = self._own_text()
        text = own or (self.lesson.text if self.lesson is not None else "")
        if self._race_words is None or self._race_words[0] != text:
            self._count_for_race(text, step)
            return None
        about = "the beginning of your text" if own else "a short story"
        return RaceOfStep(self._race_words[1], step.race, RACED, about, self._session.playing.has_motion)

    def _own_text(self) -> str:
        """Return the text that the user has typed. Return an empty string if it is too short for the lesson's race.

        A lesson's race shows how several trainers learn the same text.
        """
        hidden = self._session.lesson_contents.hidden
        text = hidden.text if hidden is not None else ""
        return text if len(text) >= LEAST_RACED else ""

    def _count_for_race(self, text: str, step: LessonStep) -> None:
        if text == self._counting_for_race:
            return
        self._counting_for_race = text

        def keep(words: Sequence[CountedWord]) -> None:
            self._race_words = text, words
            self._counting_for_race = None
            self.changed.emit()

        self._session.background.run("race", lambda task: words_of_race(text, step.recipe), keep)

    # -- steps -----------------------------------------------------------------------------

    def _arrive(self) -> None:
        lesson = self.lesson
        step = self.step
        reply = self._reply
        if lesson is None or step is None:
            return
        self._verdict = None
        runs = self._session.runs
        lesson_contents = self._session.lesson_contents
        if reply.is_done and reply.run in runs.all:
            runs.show(reply.run)
            self._session.cursor.go_to(reply.at)
        elif self._run is not None and self._can_reach(self._run, step):
            runs.show(self._run)
            if self._run.learned < step.merges:
                runs.resume(merges=step.merges - self._run.learned)
        else:
            self._run = None  # until the new run exists, signals are about another recipe
            lesson_contents.show(lesson.title, lesson.texts, step.recipe, step.merges)
            self._run = runs.shown
        self.moved.emit(lesson.name, self.number)
        self.changed.emit()

    def _can_reach(self, run: Run, step: LessonStep) -> bool:
        is_here = run in self._session.runs.all and run.recipe == step.recipe
        return is_here and (run.learned == step.merges or (run.learned < step.merges and run.can_go_on()))

    def _look(self) -> None:
        run = self._run
        bench = self.bench_of_step()
        if run is not None and run.history is not None and bench is not None and self.is_predicting:
            at = len(bench.history)
            if run.learned > at:
                self._done(self._verdict or reply_with_answer(run.history.pair(at), bench))
        self.changed.emit()

    def _done(self, feedback: Feedback) -> None:
        run = self._run
        step = self.step
        bench = self.bench_of_step()
        if run is not None and step is not None and bench is not None:
            at = step.merges + (step.kind == "predict")
            self._replies[self.number] = Reply(True, feedback, filled(step.after, step, bench), run=run, at=at)

    def _note(self, feedback: Feedback, wrong_choice: str | None = None) -> None:
        if self._run is not None:
            ruled_out = (*self._reply.ruled_out, *filter(None, [wrong_choice]))
            self._replies[self.number] = Reply(feedback=feedback, ruled_out=ruled_out, run=self._run)
            self.changed.emit()

    @property
    def _reply(self) -> Reply:
        return self._replies.get(self.number, NO_REPLY)

    # -- the run ---------------------------------------------------------------------------

    def bench_of_step(self) -> Bench | None:
        step = self.step
        run = self._reply.run or self._run
        if run is None or step is None or run.words is None or run.history is None or run.learned < step.merges:
            return None
        return self._run_after(run, step.merges)

    def _run_after(self, run: Run, merges: int) -> Bench:
        """Return the words and tokens of a run after `merges` steps. The last few results are cached."""
        assert run.words is not None
        assert run.history is not None
        key = (run.stamp, merges)
        if key not in self._benches:
            if len(self._benches) > MOST_BENCHES:
                self._benches.clear()
            self._benches[key] = Bench(run.words, run.history.first(merges))
        return self._benches[key]

    def _words_now(self) -> tuple[tuple[WordNow, ...], int | None]:
        """Return the words of the lesson, split at the step shown, and the id of the newest token.

        The id is None before the first step.
        """
        run = self._session.runs.shown
        lesson = self.lesson
        if run is None or lesson is None or not self._session.lesson_contents.owns(run):
            return (), None
        if run.words is None or run.history is None:
            return (), None
        at = self._session.cursor.position
        bench = self._run_after(run, at)
        newest = int(bench.history.indices[at - 1]) if at else None
        return lesson.words(bench), newest

    # -- the contents of the lesson --------------------------------------------------------

    def _lesson_contents_changed(self) -> None:
        if self._session.lesson_contents.hidden is not None:
            return
        self.lesson = None
        self._run = None
        self._replies.clear()
        self._benches.clear()
        self._text.replace(0, self._text.length, self._session.text.value)
        self.changed.emit()

    def _end_if_text_was_opened(self) -> None:
        """End the lesson if the user opened a text."""
        lesson_contents = self._session.lesson_contents
        if lesson_contents.hidden is not None and any(
            lesson_contents.texts_of_person(self._session.corpus.texts.value)
        ):
            QTimer.singleShot(0, self, self._leave_with_opened_text)

    def _leave_with_opened_text(self) -> None:
        if self._session.lesson_contents.hidden is not None:
            self.leave()
            self._session.background.notify(BROUGHT, is_error=False)
