"""Functions that write the folder of a tokenizer again after a change to its table.

The other files of the folder are changed together with the table. `prepare_changed_folder` writes the files
in memory and checks them. Then all files are put in place together.

- The tokenizer's main file is written in its old format and read back. A tokenizer.json keeps the special
  tokens that it puts around texts.
- The sidecar files keep roles, padding sides and templates. Tokens in them get their new names and ids
  (sidecars.py).
- The files for other loaders are made from the changed table. If no token was learned, they are made from
  their old content. If a file cannot hold the same ids, it is left out, and a sentence gives the reason.
- If transformers is installed, it loads the old folder and the new folder. For each text that the old folder
  and the old table encode to the same ids, the new folder and the new table must also agree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bpe_core.delivery.folder import CONFIG, LIBRARY, LONGEST_TEXT, MADE_TEXTS, without_network_or_advice
from bpe_core.delivery.kept_parts import with_kept_parts
from bpe_core.delivery.sidecars import Sidecars, TokenChange, about_uncopied_files, changed
from bpe_core.editing.id_map import IdMap
from bpe_core.editing.id_map_file import IN_FOLDERS, npz_of
from bpe_core.editing.specials import change_specials, with_specials
from bpe_core.editing.trimming import trim_indices
from bpe_core.errors import LONGEST_SENTENCE, BpeError, OutputError, plain, throwing_exceptions
from bpe_core.formats import FORMATS, format_for, open_table
from bpe_core.formats.base import NO_NUMBER, Format, ids_beside, own_numbers
from bpe_core.history.history import History
from bpe_core.history.token_texts import quoted, written
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.support.paths import real_path
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text
from bpe_core.text.specials import finder
from bpe_core.verification.checking import PreparedExport, Verification, prepare_export
from bpe_core.verification.sampling import HARD_TEXTS, joined_tokens, special_texts

WHOLE = "tokenizer.json"
ROLES = tuple(f"{role}_token" for role in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))
LISTED = 5
LONGEST_CAUSE = 120  # characters
AROUND = "low"  # a text that no tokenizer joins to the text around it


@dataclass(frozen=True)
class FolderPlan:
    """The plan of a new folder: the name and format of its main file, and the sidecar files of the old folder."""

    path: Path
    main: str
    format: Format
    sidecars: Sidecars

    @property
    def names(self) -> set[str]:
        """Return the names of all files that the new folder may contain."""
        main = self.format.main_file(self.path / self.main)
        names = {path.name for path in (main, *self.format.companions(main))}
        for other in self.others:
            path = self.path / other
            names |= {path.name, *(companion.name for companion in format_for(path).companions(path))}
        return names | {Path(name).parts[0] for name in self.sidecars.files} | {IN_FOLDERS}

    @property
    def others(self) -> tuple[str, ...]:
        """Return the names of the files for other loaders, which are written in addition to the main file.

        If a user chose another format for the main file, no other files are written.
        """
        known = self.main == self.sidecars.main
        return tuple(name for name in self.sidecars.others if name != self.main) if known else ()

    def refuse_other_contents(self) -> None:
        """Raise OutputError if the new folder is the old folder, or contains files that are not in this plan."""
        if self.sidecars.main and real_path(self.path) == real_path(self.sidecars.folder):
            raise OutputError(f"{self.path} is the table's own folder; choose another folder, or name a file.")
        refuse_other_contents(self.path, self.names)


def refuse_other_contents(folder: Path, names: Collection[str]) -> None:
    """Raise OutputError if a folder contains a file whose name is not in `names`. Ignore hidden files.

    A file whose name is in `names` may be replaced, because it comes from an earlier run of the same command.
    """
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder} is a file; choose another folder.")
    there = {path.name for path in folder.iterdir()} if folder.exists() else set()
    others = sorted(name for name in there.difference(names) if not name.startswith("."))
    if others:
        raise OutputError(
            f"{folder} holds {others[0]}, which does not belong to this tokenizer; choose a new folder, or name a file."
        )


def plan_for(folder: Path | str, sidecars: Sidecars, source: Path, source_format: str, to: str | None) -> FolderPlan:
    """Plan a new folder. Its main file has the same name as the file `source`.

    If `to` names another format, the main file has the usual name for this format. A file of the format merges.txt
    always gets a name that ends in merges.txt.
    """
    if to and (to != source_format or not _has_ending_of(source, to)):
        ending = FORMATS.rows[to].endings[0]
        name = ending if not ending.startswith(".") else source.name.split(".")[0] + FORMATS.extension(to)
        return FolderPlan(Path(folder), name, FORMATS[to], sidecars)
    format = FORMATS[source_format] if source_format in FORMATS else format_for(source)
    name = "merges.txt" if format.name == "merges.txt" and not source.name.endswith("merges.txt") else source.name
    return FolderPlan(Path(folder), name, format, sidecars)


def _has_ending_of(path: Path, format: str) -> bool:
    """Return whether a file name has one of the endings of this format."""
    return any(path.name.lower().endswith(ending) for ending in FORMATS.rows[format].endings)


def prepare_changed_file(
    history: History,
    path: Path,
    *,
    source: Path,
    before: History,
    renamed: Mapping[str, str] | None = None,
    merges: int | None = None,
    **choices: Any,
) -> PreparedExport:
    """Write a changed tokenizer.json in memory.

    The file keeps the special tokens that the file `source` puts around texts.
    """
    made = prepare_export(history, path, format=FORMATS[WHOLE], merges=merges, **choices)
    table = history if merges is None else history.first(merges)
    change = TokenChange(before, table.numbered(made.format.numbers(table)), renamed or {})
    lost: list[str] = []
    data = with_kept_parts(source.read_bytes(), made.files[made.path], source.name, change, lost)
    verification = made.verification
    verification = replace(verification, cannot_hold=(*verification.cannot_hold, *lost))
    return replace(made, files={**made.files, made.path: data}, verification=verification)


def prepare_changed_folder(
    plan: FolderPlan,
    before: History,
    history: History,
    *,
    renamed: Mapping[str, str] | None = None,
    overriding: Mapping[str, Any] | None = None,
    merges: int | None = None,
    text: str = "",
    work: Work = ALONE,
) -> PreparedExport:
    table = history if merges is None else history.first(merges)
    made = prepare_export(table, plan.path / plan.main, format=plan.format, text=text, work=work)
    table = table.numbered(plan.format.numbers(table))
    change = TokenChange(before, table, renamed or {})
    files = dict(made.files)
    chosen = list[str]()
    lost = list[str]()
    if plan.format.name == WHOLE and plan.sidecars.main and (plan.sidecars.folder / WHOLE).is_file():
        whole = plan.path / plan.main
        old = (plan.sidecars.folder / plan.sidecars.main).read_bytes()
        files[whole] = with_kept_parts(old, files[whole], plan.main, change, lost)
    beside = changed(plan.sidecars, change, overriding)
    files |= {plan.path / name: content for name, content in beside.files.items()}
    chosen += beside.notes
    for name in plan.others:
        files |= _for_another_loader(plan, name, change, lost, work)
    lost += about_uncopied_files(plan.sidecars)
    verification = _check_by_loading(made.verification, files, plan, change, overriding or {}, text)
    verification = replace(
        verification, chosen=(*verification.chosen, *chosen), cannot_hold=(*verification.cannot_hold, *lost)
    )
    id_map = IdMap.of(before, table, renamed=renamed, cancelled=work.cancelled)
    files[plan.path / IN_FOLDERS] = npz_of(id_map)
    return replace(made, path=plan.path, files=files, verification=verification, id_map=id_map)


# --- Files for other loaders ------------------------------------------------------------


def about_others(sidecars: Sidecars, history: History) -> list[str]:
    """Compare the table `history` with the other tokenizer files in its folder, which other libraries load.

    Return a sentence about each file that cannot be read, or whose tokens or ids differ from the table.
    """
    sentences = []
    for name in sidecars.others:
        try:
            other = open_table(sidecars.folder / name).history
        except BpeError as error:
            sentences.append(f"{name} in the same folder is not read: {error}")
            continue
        texts = TokenChange(other, other)
        own = TokenChange(history, history)
        lacking = [text for text in texts.texts if own.id_of(text) is None]
        lacked = [text for text in own.texts if texts.id_of(text) is None]
        if differing := _first_different_token(other, history):
            sentences.append(
                f"{name} in the same folder and {sidecars.main} give {differing} different ids. Different "
                "libraries load the two files."
            )
        elif lacking or lacked:
            more = (
                f"has {count_text(len(lacking), 'token')} that {sidecars.main} lacks, and lacks "
                f"{count_text(len(lacked), 'token')} of {sidecars.main}"
            )
            sentences.append(f"{name} in the same folder {more}, such as {quoted((lacking + lacked)[0])}.")
    return sentences


def _for_another_loader(
    plan: FolderPlan, name: str, change: TokenChange, lost: list[str], work: Work
) -> Mapping[Path, bytes]:
    """Make one more tokenizer file of a folder from the changed table.

    Other loaders read this file instead of the main file. Return a dictionary from the path of the file to its
    content. If the file cannot have the same tokens and ids, return an empty dictionary, and add a sentence to
    `lost`.
    """
    try:
        opened = open_table(plan.sidecars.folder / name)
        if differing := _first_different_token(opened.history, change.before):
            lost.append(
                f"{name} is left out: in the old folder, this file and {plan.main} have different ids for {differing}."
            )
            return {}
        own = change.after if change.learned else _with_same_changes(opened.history, change)
        format = FORMATS[opened.format]
        made = prepare_export(own, plan.path / name, format=format, work=work)
        numbered = own.numbered(format.numbers(own))
        if differing := _first_different_token(numbered, change.after):
            lost.append(f"{name} is left out: this file and {plan.main} would have different ids for {differing}.")
        elif missing := _missing_token(opened.history, numbered, change):
            lost.append(f"{name} is left out: this file would no longer hold {missing}.")
        elif not made.verification.agrees:
            lost.append(f"{name} is left out: {' '.join(made.verification.differences[:1])}")
        else:
            return made.files
    except BpeError as error:
        lost.append(f"{name} is left out: {error}")
    return {}


def _first_different_token(history: History, other: History) -> str:
    """Return a token that has different ids in two tables. The token is in quotation marks.

    Return an empty string if all common tokens have equal ids.
    """
    known = TokenChange(other, other)
    compared = TokenChange(history, history)
    ids = {**known.texts, **known.specials}
    differing = (text for text, id in {**compared.texts, **compared.specials}.items() if ids.get(text, id) != id)
    text = next(differing, None)
    return "" if text is None else quoted(text)


def _missing_token(before: History, now: History, change: TokenChange) -> str:
    """Return a token that is missing in a new file although the change did not remove it.

    The token is in quotation marks. Return an empty string if no token is missing.
    """
    known = TokenChange(before, before)
    has = TokenChange(now, now)
    texts = (text for text in (*known.texts, *known.specials) if not change.is_removed(text))
    lacking = next((text for text in texts if has.id_of(change.text(text)) is None), None)
    return "" if lacking is None else quoted(change.text(lacking))


def _with_same_changes(history: History, change: TokenChange) -> History:
    """Make the same change in another history, and return the changed history.

    The same special tokens are removed, renamed and added, and all tokens get their new ids.
    """
    known = TokenChange(history, history)
    renamed = {text: new for text, new in change.renamed.items() if known.id_of(text) is not None}
    gone = [text for text in history.recipe.special_tokens if change.is_removed(text)]
    history = change_specials(history, rename=renamed, remove=gone).history
    added = {text: change.specials[text] for text in change.added}
    history = with_specials(history, rename={}, add=added, remove=()) if added else history
    texts = written(history)
    numbers = own_numbers(history)
    goes = [
        index
        for index in range(history.first_special)
        if numbers[index] != NO_NUMBER and change.is_removed(texts[index].decode(errors="surrogateescape"))
    ]
    if goes:
        history = trim_indices(history, goes, needed="lose", renumber=False).history
    ids = {id: NO_NUMBER if now is None else now for id, now in change.ids.items()}
    new = [ids.get(int(number), int(number)) for number in own_numbers(history)]
    return history.numbered(ids_beside(history, np.array(new, np.int64)))


# --- As transformers loads it -----------------------------------------------------------


def _check_by_loading(
    verification: Verification,
    files: Mapping[Path, bytes],
    plan: FolderPlan,
    change: TokenChange,
    overriding: Mapping[str, Any],
    text: str,
) -> Verification:
    """Load the old folder and the new folder with transformers, and add the differences to the verification.

    Roles, padding sides, templates and ids are compared. No network is used.
    """
    if CONFIG not in plan.sidecars.files or not verification.agrees:
        return verification
    with without_network_or_advice():
        try:
            from transformers import AutoTokenizer  # optional libraries, which only serve for comparison
        except ImportError:
            note = f"{LIBRARY} is not installed here, so only the tokenizer itself was checked, not the folder."
            return replace(verification, cannot_hold=(*verification.cannot_hold, note))
        try:
            with throwing_exceptions():
                before = AutoTokenizer.from_pretrained(str(plan.sidecars.folder), local_files_only=True)
        except Exception as error:  # any exception of another library
            cause = plain(str(error).split("\n")[0], LONGEST_CAUSE).rstrip(".")
            note = (
                f"{LIBRARY} does not load {plan.sidecars.folder} ({cause}), so the new folder was not checked with it."
            )
            return replace(verification, cannot_hold=(*verification.cannot_hold, note))
        with TemporaryDirectory() as place:
            for path, content in files.items():
                inside = Path(place, path.relative_to(plan.path))
                inside.parent.mkdir(exist_ok=True)
                inside.write_bytes(content)
            try:
                with throwing_exceptions():
                    now = AutoTokenizer.from_pretrained(place, local_files_only=True)
                    wrong = [*_roles_differing(before, now, change, overriding)]
                    wrong += islice(_about_different_ids(before, now, change, text), LISTED)
            except Exception as error:  # any exception of another library
                wrong = [plain(f"{LIBRARY} does not load the folder: {error}", LONGEST_SENTENCE)]
    return verification.with_differences(LIBRARY, wrong)


def _roles_differing(before: Any, now: Any, change: TokenChange, overriding: Mapping[str, Any]) -> Iterator[str]:
    for role in ROLES:
        was = getattr(before, role, None)
        wanted = change.text(str(was)) if was is not None and not change.is_removed(str(was)) else None
        wanted = overriding.get(role, wanted)
        has = getattr(now, role, None)
        if (None if has is None else str(has)) != wanted:
            yield f"{LIBRARY} takes {quoted(str(has))} for {role}, not {quoted(str(wanted))}."
            continue
        was_ours = was is None or before.convert_tokens_to_ids(str(was)) == change.before_id_of(str(was))
        if wanted is not None and was_ours and now.convert_tokens_to_ids(wanted) != change.id_of(wanted):
            yield f"{LIBRARY} and the tokenizer have different ids for {quoted(wanted)}."
    if now.padding_side != overriding.get("padding_side", before.padding_side):
        yield f"{LIBRARY} pads on the {now.padding_side} side, unlike before."
    if bool(now.chat_template) != bool(overriding.get("chat_template", before.chat_template)):
        yield f"{LIBRARY} does not find the chat template."


def _about_different_ids(before: Any, now: Any, change: TokenChange, text: str) -> Iterator[str]:
    """Yield a sentence for each text that the loaded new folder and this program encode with different ids.

    If the ids already differed before the change, no sentence is yielded. If the loaded folder puts other special
    tokens around a text than before, another sentence says so.
    """
    old = Tokenizer(change.before)
    new = Tokenizer(change.after)
    by_former_names = {now: former for former, now in change.renamed.items()}
    by_former_names |= dict.fromkeys(change.added, next(iter(change.specials_before), ""))
    renamed = finder(tuple(by_former_names))
    samples = [*HARD_TEXTS, text[:LONGEST_TEXT], *special_texts(change.after, change.after.recipe)]
    samples += islice(joined_tokens(change.after, MADE_TEXTS), MADE_TEXTS)
    for sample in samples:
        ours = change.after.numbers_of(new.encode(sample, allowed_special="all")).tolist()
        if now(sample, add_special_tokens=False)["input_ids"] == ours:
            continue
        spelled = _with_replacements(sample, renamed(sample), by_former_names)
        former = change.before.numbers_of(old.encode(spelled, allowed_special="all")).tolist()
        if before(spelled, add_special_tokens=False)["input_ids"] == former:
            yield f"{LIBRARY} splits {quoted(sample)} differently from the tokenizer."
    around = _ids_around_text(before)
    wanted = [[change.ids.get(id, id) for id in ids] for ids in around] if around else None
    if wanted and None not in (*wanted[0], *wanted[1]) and _ids_around_text(now) != (wanted[0], wanted[1]):
        yield f"{LIBRARY} adds other special tokens to a text than before."


def _with_replacements(text: str, places: Iterable[tuple[int, int]], names: Mapping[str, str]) -> str:
    """Return a text in which some tokens are replaced by new names.

    `places` holds the start and the end of each of these tokens. `names` maps each of them to its new name.
    """
    parts = list[str]()
    end = 0
    for start, stop in places:
        parts += [text[end:start], names[text[start:stop]]]
        end = stop
    return "".join([*parts, text[end:]])


def _ids_around_text(loaded: Any) -> tuple[list[int], list[int]] | None:
    """Return the ids that a loaded tokenizer puts before a text, and the ids that it puts after a text.

    Return None if they cannot be found.
    """
    whole = loaded(AROUND)["input_ids"]
    bare = loaded(AROUND, add_special_tokens=False)["input_ids"]
    places = [at for at in range(len(whole) - len(bare) + 1) if whole[at : at + len(bare)] == bare]
    return (whole[: places[0]], whole[places[0] + len(bare) :]) if places else None
