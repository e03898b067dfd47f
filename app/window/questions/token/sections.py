"""The sections on the page of a token as rich text, with links to tokens and steps."""

from __future__ import annotations

import html
from collections.abc import Iterable

from app.window.parts.wording import count_text, link_to_step, with_readable_blanks
from bpe_core.history.token_texts import shown
from bpe_core.insight.contexts import Context
from bpe_core.methods.kit.life import Holders, TokenLife
from bpe_core.questions.token import MOST_SHOWN, reach_sentence
from bpe_core.studies.study import Study

ALL = "all:"  # before the name of a section, in a link
LINE_CHARACTERS = 44  # on either side of the token
LONGEST_WORD = 80  # bytes


def sections_of(life: TokenLife, study: Study) -> Iterable[tuple[str, str]]:
    """Yield the name and the rich text of each section. The text is empty if the section has no content."""
    names = study.inside.by_index.texts.text
    if life.is_born:
        words = f" in {count_text(life.words.number, 'word')}" if life.words.number or not life.count else ""
        sentence = f"<b>Occurs {count_text(life.count, 'time')}</b>{words}"
        peak = "when it was made" if life.curve[0][1] == life.peak else "at most"
        sentence += f"; {life.peak:,} {peak}." if life.at > 0 and life.peak != life.count else "."
        yield (
            "occurs",
            sentence
            + (" A <b>scaffold</b>: larger tokens have taken all its occurrences." if life.is_scaffold else ""),
        )
    yield "told", "<br>".join(map(html.escape, life.told))
    is_seen = life.reached.kind == "reachable" and life.count > 0
    yield "reach", "" if is_seen else html.escape(reach_sentence(life.reached, study))
    yield "words", _listed("words", life.words)
    links = (f'<a href="token:{child}">{_name(names[child])}</a>' for child in life.children[:MOST_SHOWN])
    yield "children", ", ".join(links) + _more(len(life.children) - MOST_SHOWN)
    takers = [
        (step, names[int(study.history.indices[step - 1])], lost) for step, lost in life.takers if step <= life.at
    ]
    taken = (f"{link_to_step(step, _name(text))} {lost:,}" for step, text, lost in takers[:MOST_SHOWN])
    yield "takers", ", ".join(taken)
    files = sorted(life.files.items(), key=lambda file: -file[1])[:MOST_SHOWN]
    by_file = ", ".join(
        f"{_per_cent(count / life.paid.count)} from {html.escape(name)}" for name, count in files if count
    )
    by_word = _listed("paid", life.paid, with_share=True)
    yield "paid", f"<b>{by_file}</b><br>{by_word}" if by_file else by_word


def _per_cent(share: float) -> str:
    """Return a share in whole per cent. Only the share 0 gives 0 %, and only the share 1 gives 100 %.

    >>> _per_cent(0.94), _per_cent(0.004), _per_cent(0.997), _per_cent(1.0)
    ('94\u202f%', 'under 1\u202f%', 'over 99\u202f%', '100\u202f%')
    """
    if 0 < share < 0.01:
        return "under 1\u202f%"
    return "over 99\u202f%" if 0.99 < share < 1 else f"{share:.0%}".replace("%", "\u202f%")


def _listed(name: str, held: Holders, *, with_share: bool = False) -> str:
    parts = (
        f"{_name(shown(word[:LONGEST_WORD]))} {count:,}{f' ({_per_cent(count / held.count)})' if with_share else ''}"
        for word, count in held.words[:MOST_SHOWN]
    )
    more = _more(held.number - MOST_SHOWN)
    return ", ".join(parts) + (f'{more} (<a href="{ALL}{name}">save all …</a>)' if more else "")


def _more(count: int) -> str:
    return f" and {count:,} more" if count > 0 else ""


def _name(text: str) -> str:
    """Return the text of a token as rich text.

    >>> _name("a<b")
    '<code>a&lt;b</code>'
    """
    return f"<code>{with_readable_blanks(html.escape(text))}</code>"


def line_text(line: Context) -> str:
    place = f"{html.escape(line.source)}, {'row' if line.is_row else 'line'} {line.line:,}"
    before = html.escape(line.before[-LINE_CHARACTERS:])
    after = html.escape(line.after[:LINE_CHARACTERS])
    token = f"<b><u>{html.escape(line.token)}</u></b>"
    return f"<p style='margin-top: 0; margin-bottom: 4px'>{before}{token}{after}<br><small>{place}</small></p>"
