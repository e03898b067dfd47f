"""The question `ends`. It asks which word ends fall inside a token, and how a prompt that stops there is healed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bpe_core.asking import Answer, Question, parameter
from bpe_core.errors import BpeError
from bpe_core.figures.figure import Bar, BarFigure
from bpe_core.figures.from_table import dots_chart
from bpe_core.history.token_texts import quoted, shown
from bpe_core.insight.healing import HealedPrompt, heal_prompt
from bpe_core.measures.benchmark import Contender, contenders_of
from bpe_core.measures.inside_tokens import Ends as CountedEnds
from bpe_core.measures.inside_tokens import WordEnds, pieces_of, words_of
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.small_files import read_small_file
from bpe_core.support.wording import count_text
from bpe_core.text.word_ends import WITHOUT_SPACES, segmented

WHAT = "The list of word ends"
NO_TEXTS = "This question needs texts: name texts with --corpus, words with --words, or a prompt with --text."
ALL = "all"  # the kind of the row about all kinds together
MOST_TOKENS = 3  # tokens that a row names
MOST_NAMED = 5  # tokens that a sentence names

Found = dict[str, dict[str, WordEnds]]  # by the name of the text, and of the tokenizer


@dataclass(frozen=True)
class Ends(Question):
    """Show which word ends fall inside a token. A prompt should not stop at such a word end.

    A prompt that stops inside a token ends with tokens that a model has never seen at such a place. If you give a
    text, its end is examined. The answer then shows which tokens continue after the end, how many tokens to remove
    from the end, and the healed prompt.
    """

    about = "this place"
    asks = "Where should a prompt not stop?"
    turn = 5
    needs = "texts if known"
    studies = (1, 8)
    rests = True
    by_parts = True
    examples = """\
examples:
  bpe-explorer ends merges.csv --corpus book.txt --group code src
      Show the share of word ends inside a token: by file or group, by script, and for digits and names in code.

  bpe-explorer ends superwords.csv words.csv --corpus book.txt
      Compare superwords with words.

  bpe-explorer ends tokenizer.json --words chinese.txt
      Use the words of a file, with spaces between them, one sentence in each line. Without --words each
      character of a script without spaces counts as a word.

  bpe-explorer ends tokenizer.json --text "The lighthouse kee"
      Show how to continue this prompt.
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.ends({"ours": study}, text="a low").sentences[0]
        'Remove 2 tokens from the end of the prompt: keep 1 of 3 ids, and let the next tokens begin with “␣low”.'
    """

    words: tuple[str, ...] = parameter(
        (),
        help="files with one sentence in each line and spaces between words",
        metavar="FILE",
        path="file",
        title="Sentences with spaces",
        in_words={"": "none"},
    )
    text: str = parameter(
        "", help="a prompt whose end is examined", metavar="TEXT", title="Prompt", example="The lighthouse kee"
    )

    def reads_documents(self) -> bool:
        return not (self.words or self.text)

    def asks_corpus(self, *, has_texts: bool) -> bool:
        return not (has_texts or self.words or self.text)

    def answer(self, studies: Mapping[str, Study], work: Work = ALONE) -> Answer:
        if self.text:
            return _of_prompt(studies, self.text, work)
        contenders = contenders_of({name: study.history for name, study in studies.items()})
        ends_by_text = _count_in_word_lists(self.words, contenders, work)
        texts = next(iter(studies.values())).texts
        if texts is not None:
            with texts.reading() as corpus:
                parts = corpus.by_source() if corpus.groups == ("",) else corpus.parts()
                for name, part in parts.items():
                    ends_by_text[name] = {contender.name: WordEnds() for contender in contenders}
                    for piece in pieces_of(part, [contender.tokenizer for contender in contenders], work):
                        _add(ends_by_text[name], contenders, piece, work)
        if not ends_by_text:
            raise BpeError(NO_TEXTS)
        return _of_corpus(studies, ends_by_text)


def _add(ends: Mapping[str, WordEnds], contenders: Sequence[Contender], piece: str, work: Work) -> None:
    words = [*words_of(piece)]
    for contender in contenders:
        work.check()
        ends[contender.name].add(contender.tokenizer, piece, words, contender.at)


def _count_in_word_lists(paths: Sequence[str], contenders: Sequence[Contender], work: Work) -> Found:
    """Count the word ends that fall inside a token. There is a count for each file and each tokenizer.

    The words of the files are separated by spaces.
    """
    ends_by_path: Found = {}
    for path in paths:
        lines = read_small_file(path, "the words", BpeError).split("\n")
        text, words = segmented(lines)
        if not words:
            raise BpeError(f"{path} holds no words; write one sentence in each line, with spaces between its words.")
        ends_by_path[path] = {contender.name: WordEnds() for contender in contenders}
        for contender in contenders:
            work.check()
            ends_by_path[path][contender.name].add(contender.tokenizer, text, words, contender.at)
    return ends_by_path


# --- The ends of all words -----------------------------------------------------------------------


def _of_corpus(studies: Mapping[str, Study], ends_by_text: Found) -> Answer:
    rows = [
        (name, text, kind, ends, of_text)
        for name in studies
        for text, by_name in ends_by_text.items()
        for of_text in (by_name[name],)
        for kind, ends in ((ALL, of_text.in_words), *sorted(of_text.by_kind.items()))
    ]
    table = DataTable(
        {
            "tokenizer": [name for name, *_ in rows],
            "text": [text for _, text, *_ in rows],
            "kind": [kind for _, _, kind, *_ in rows],
            "ends": [ends.ends for *_, ends, _ in rows],
            "inside_ends": [ends.inside for *_, ends, _ in rows],
            "inside": [ends.share for *_, ends, _ in rows],
            "tokens": [of_text.tokens if kind == ALL else None for _, _, kind, _, of_text in rows],
            "across": [of_text.share_across if kind == ALL else None for _, _, kind, _, of_text in rows],
            "most": [_most(studies[name], of_text) if kind == ALL else () for name, _, kind, _, of_text in rows],
        }
    )
    sums = {name: _sum(by_name[name] for by_name in ends_by_text.values()) for name in studies}
    shares = {name: ends.share for name, ends in sums.items()}
    inside = next(iter(shares.values())) if len(shares) == 1 else shares
    sentences = [
        *(_about(name, sums[name], ends_by_text, len(studies)) for name in studies),
        *_about_scripts(ends_by_text),
    ]
    whole = [place for place, (_, _, kind, *_) in enumerate(rows) if kind == ALL]
    drawn = DataTable({name: [values[place] for place in whole] for name, values in table.columns.items()})
    listed = ("tokenizer", "text", "kind", "ends", "inside", "across", "most")
    return Answer(
        table,
        tuple(sentences),
        dots_chart(drawn, "inside"),
        listed=listed if len(studies) > 1 else listed[1:],
        facts={"inside": inside},
    )


def _sum(texts: Iterator[WordEnds]) -> CountedEnds:
    every = [ends.in_words for ends in texts]
    return CountedEnds(sum(ends.ends for ends in every), sum(ends.inside for ends in every))


def _most(study: Study, ends: WordEnds) -> tuple[str, ...]:
    names = study.inside.by_index.texts.text
    return tuple(f"{names[index]} {times:,}" for index, times in ends.most.most_common(MOST_TOKENS))


def _about(name: str, ends: CountedEnds, ends_by_text: Found, tokenizers: int) -> str:
    before = f"{name}: " if tokenizers > 1 else ""
    tokens = sum(by_name[name].tokens for by_name in ends_by_text.values())
    across = sum(by_name[name].across for by_name in ends_by_text.values())
    if not ends.ends:
        return f"{before}There are no words in these texts."
    return (
        f"{before}{ends.inside:,} of {count_text(ends.ends, 'end')} of words, {ends.share:.2%}, fall inside a "
        f"token. {across:,} of {count_text(tokens, 'token')} continue after the end of a word."
    )


def _about_scripts(ends_by_text: Found) -> Iterator[str]:
    kinds = {kind for by_name in ends_by_text.values() for ends in by_name.values() for kind in ends.by_kind}
    dense = [script for script in WITHOUT_SPACES if script in kinds]
    if dense:
        scripts = ", ".join(dense)
        yield (
            f"In scripts without spaces between words ({scripts}), each character counts as a word, unless you give "
            "the words."
        )


# --- The end of a prompt -------------------------------------------------------------------------


def _of_prompt(studies: Mapping[str, Study], text: str, work: Work) -> Answer:
    prompts = {name: heal_prompt(study.inside.by_index.tokenizer, text, work=work) for name, study in studies.items()}
    rows = [(name, prompt, token) for name, prompt in prompts.items() for token in prompt.tokens]
    texts = {name: study.inside.by_index.texts.text for name, study in studies.items()}
    table = DataTable(
        {
            "tokenizer": [name for name, *_ in rows],
            "id": [studies[name].inside.by_index.number(token.index) for name, _, token in rows],
            "token": [texts[name][token.index] for name, _, token in rows],
            "rest": [shown(token.rest) for *_, token in rows],
            "step_back": [token.step_back for *_, token in rows],
        }
    )
    facts = {name: _healed_prompt(studies[name], prompt) for name, prompt in prompts.items()}
    sentences = [
        (f"{name}: " if len(prompts) > 1 else "") + said
        for name, prompt in prompts.items()
        for said in _about_prompt(studies[name], prompt)
    ]
    listed = ("id", "token", "rest", "step_back")
    return Answer(
        table,
        tuple(sentences),
        _chart_of_prompt_ends(prompts),
        listed=listed if len(prompts) == 1 else ("tokenizer", *listed),
        facts=next(iter(facts.values())) if len(facts) == 1 else {"healed": facts},
    )


def _chart_of_prompt_ends(prompts: Mapping[str, HealedPrompt]) -> BarFigure | None:
    """Draw a chart of the tokens that begin inside a prompt and continue after its end.

    If a prompt ends in `ne`, the token `new` is such a token. Each bar stands for one end of a prompt, such as `ne`.
    The length of the bar is the number of tokens that begin with this end.

    Return None if there are no such tokens.
    """
    several = len(prompts) > 1
    times = Counter(
        (name if several else "", shown(token.rest)) for name, prompt in prompts.items() for token in prompt.tokens
    )
    if not times:
        return None
    bars = [Bar(f"{name} {rest}".strip(), number, f"{number:,}") for (name, rest), number in times.items()]
    sentence = "The number of tokens that begin with the last characters of the prompt and continue after them."
    return BarFigure("ends", "Tokens that begin before the end of the prompt.", sentence, bars, "Tokens")


def _numbers(study: Study, indices: Sequence[int]) -> list[int | None]:
    return [study.inside.by_index.number(index) for index in indices]


def _healed_prompt(study: Study, prompt: HealedPrompt) -> dict[str, object]:
    return {
        "ids": _numbers(study, prompt.ids),
        "step_back": prompt.step_back,
        "kept": _numbers(study, prompt.kept),
        "rest": prompt.rest.decode(errors="replace"),
        "tokens_with_rest": len(prompt.tokens),
    }


def _about_prompt(study: Study, prompt: HealedPrompt) -> Iterator[str]:
    if not prompt.step_back:
        yield "No token begins before the end of this text and continues after it, so the prompt needs no healing."
        return
    back = count_text(prompt.step_back, "token")
    kept = len(prompt.kept)
    yield (
        f"Remove {back} from the end of the prompt: keep {kept:,} of {count_text(len(prompt.ids), 'id')}, and let the "
        f"next tokens begin with {quoted(prompt.rest)}."
    )
    names = study.inside.by_index.texts.text
    some = ", ".join(f"“{names[token.index]}”" for token in prompt.tokens[:MOST_NAMED])
    more = f" and {len(prompt.tokens) - MOST_NAMED:,} more" if len(prompt.tokens) > MOST_NAMED else ""
    yield f"{count_text(len(prompt.tokens), 'token')} can cover the end of the prompt: {some}{more}."
    ids = " ".join("none" if number is None else str(number) for number in _numbers(study, prompt.kept))
    yield f"The healed prompt: {ids or 'no id'}, then tokens whose joined text begins with {quoted(prompt.rest)}."
    if not prompt.is_whole:
        yield "More tokens could cover the end of the prompt. Only the first tokens that were tried are shown."
