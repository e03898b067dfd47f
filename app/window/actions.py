"""Everything that can be done by menu, toolbar or key, declared in one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from app.window.parts.icons import icon
from app.window.parts.typed import take_what_is_typed
from app.window.parts.wording import tip

Standard = QKeySequence.StandardKey


@dataclass(frozen=True)
class Item:
    """One action: how it is called, reached and explained."""

    name: str
    text: str  # {step}, {steps}, {Step} and {Steps} stand for what the steps of the run shown are called
    tip: str = ""
    shortcut: str | Standard | tuple[str, ...] | None = None
    icon: str = ""
    checkable: bool = False


SEPARATOR = Item("", "")
ABOUT_PAGES = Item("pages", "")  # here stand the actions that the pages bring along

TITLES = {
    "file": "&File",
    "edit": "&Edit",
    "training": "&Training",
    "time": "T&ime",
    "ask": "&Ask",
    "view": "&View",
    "help": "&Help",
}
MENUS: dict[str, tuple[Item, ...]] = {
    "file": (
        Item("new_session", "&New Session", "Begin with an empty corpus; what was not saved can be brought back"),
        Item("open_session", "Open &Session …", "Open a session that was saved", "Ctrl+Alt+O"),
        Item("save", "Sa&ve Session", "Keep corpus, runs, text and notes in a file", Standard.Save),
        Item("save_as", "Save Session &As …", "Keep the session in another file", "Ctrl+Shift+S"),
        SEPARATOR,
        Item("open", "&Open Texts …", "Add text files to the corpus", Standard.Open, "open"),
        Item("open_folder", "Open &Folder …", "Add all files of a folder to the corpus", "Ctrl+Shift+O"),
        Item("open_address", "O&pen from Address …", "Add what an address such as https:// or s3:// leads to"),
        Item("paste_text", "Add Text from Clip&board", "Add what was copied to the corpus", "Ctrl+Shift+V", "paste"),
        SEPARATOR,
        Item(
            "count_apart",
            "Count &Words into a File …",
            "Let the words of the corpus be counted into a file, by this computer or a cluster, while you go on",
        ),
        SEPARATOR,
        Item("import", "&Import Tokenizer …", "Open a tokenizer that was made elsewhere", "Ctrl+I"),
        Item("export", "&Export Tokenizer …", "Write it for another library or as a table", "Ctrl+E", "export"),
        Item("report", "&Report …", "Write the run shown as one page that can be mailed"),
        Item(
            "save_chart",
            "Save &Chart …",
            "Save the chart shown as PNG, SVG, PDF, or as values",
            "Ctrl+Alt+S",
        ),
        Item("print_chart", "Save Fi&gure for Print …", "Save the chart shown as PDF, SVG or PNG of a size you say"),
        Item("copy_chart", "Copy C&hart", "Copy the chart shown as a picture", "Ctrl+Alt+C"),
        Item(
            "manifests",
            "&Keep How It Was Made",
            "Beside each export, report, table or drawing, keep a manifest by which a command makes it again",
            checkable=True,
        ),
        SEPARATOR,
        Item("compress_file", "Compress a Fi&le …", "Make a file of any kind smaller, as Gage did in 1994"),
        Item("expand_file", "E&xpand a File …", "Give back the original of a compressed file"),
        SEPARATOR,
        Item(
            "claim_sessions", "Open Sessions by &Double-Click", "Let the desktop open session files with this program"
        ),
        Item("quit", "&Quit", "Close the window", Standard.Quit),
    ),
    "edit": (
        Item("undo", "&Undo", "Take back the last change", Standard.Undo, "undo"),
        Item("redo", "&Redo", "Make the change again", Standard.Redo, "redo"),
        SEPARATOR,
        Item("copy_tsv", "&Copy {Steps}", "Copy the selected {steps}, ready to paste into a spreadsheet", None, "copy"),
        Item("copy_csv", "Copy {Steps} as C&SV", "Copy the selected {steps}, separated by commas"),
        Item("copy_headers", "Copy with &Titles", "Whether copied {steps} begin with a line of titles", checkable=True),
        SEPARATOR,
        Item("find", "&Find {Steps}", "Filter the table of {steps}", Standard.Find, "search"),
    ),
    "training": (
        Item("main", "&Train", "Learn from the corpus, {step} by {step}", "F5", "train"),
        Item("new_run", "Train a &New Run", "Begin again; earlier runs stay", "Ctrl+F5"),
        Item("step", "One &Step", "Make one {step}", "F6", "step"),
        Item("stop", "St&op", "End the training; what was learned stays", "Shift+F5", "stop"),
        Item(
            "count_imported", "Count on &My Corpus", "Find the counts of an imported table in the texts of the corpus"
        ),
        Item(
            "extend_imported",
            "E&xtend on My Corpus …",
            "Let the table shown go on learning on the texts of the corpus, as a new run; its ids stay what they are",
        ),
        Item(
            "forbid",
            "&Forbid This {Step} and Go On",
            "Go another way from the {step} shown on, in which its pair is never joined: a new run beside this one",
        ),
        Item("runs", "&All Runs", "List all runs: look at one, train again with another rule, compare", "Ctrl+Shift+L"),
        Item("extend", "Continue to &Larger Vocabulary", "Go on to the size the recipe now asks for", "Ctrl+Shift+F5"),
    ),
    "time": (
        Item("play", "&Play", "Let the moment shown walk forward by itself", ("F7", "Space"), "train"),
        Item("skip", "S&kip", "Stop playing, and show the end at once", icon="live"),
        Item("back", "One {Step} &Back", "Show the world one {step} earlier", ("Alt+Left", "Left"), "back"),
        Item("forward", "One {Step} &Forward", "Show the world one {step} later", ("Alt+Right", "Right"), "step"),
        Item("first", "To the B&eginning", "Show the world before the first {step}", ("Alt+Home", "Home"), "start"),
        Item("live", "&Live", "Return to the newest {step} and stay there", ("F8", "End"), "live", checkable=True),
        Item("go_to", "&Go to {Step} …", "Type the number of a {step}", "Ctrl+G"),
        SEPARATOR,
        Item(
            "bookmark",
            "Book&mark",
            "Remember the moment shown, or forget it again",
            "Ctrl+D",
            "bookmark",
            checkable=True,
        ),
        Item("note", "Write a &Note …", "Write about the moment shown", "Ctrl+Shift+D"),
        Item("copy_reference", "&Copy Reference", "Copy the moment shown as bpe:run#{step}", "Ctrl+Shift+R"),
        SEPARATOR,
        Item("plays", "Play &When Learned", "Play a small run from its beginning once it is learned", checkable=True),
        Item("motion", "Let Things M&ove", "Show a {step} that is played slowly as it happens", checkable=True),
    ),
    "ask": (
        Item("why", "&Why Is It Cut Here?", "Show why the text is cut where the caret stands", "Ctrl+Shift+W"),
        Item("token", "About the &Token", "Show the life of the token at the caret, or of the {step} shown", "Ctrl+T"),
        Item("tree", "&Merge Tree", "Give the tree of the word that was clicked all the room", "Ctrl+Shift+T"),
        Item("paid", "What &Paid for It?", "Show the words and files that the {step} shown was made for"),
        ABOUT_PAGES,
        SEPARATOR,
        Item("hold_out", "&Held-Out Text …", "Name a text that is not learned from, to measure sizes by"),
        Item("encode", "&Encode Texts …", "Write whole texts as token ids into a file", "Ctrl+Shift+E"),
    ),
    "view": (
        Item(
            "lab",
            "La&b",
            "Put two to four tokenizers side by side, at any size of their vocabularies",
            "Ctrl+L",
            "lab",
            checkable=True,
        ),
        Item("ages", "Colour by &Age", "Colour tokens by the {step} that made them", checkable=True),
        Item("rarity", "Colour by Rar&ity", "Colour tokens by how often they stood in the corpus", checkable=True),
        Item("full_screen", "&Full Screen", "Let the window take the whole screen, or give it back", "F11", "", True),
        SEPARATOR,
    ),
    "help": (
        Item(
            "find_anything",
            "&Find Anything …",
            "Reach every action, file, lesson, token and merge by typing",
            ("Ctrl+K", "Ctrl+Shift+P"),
        ),
        Item("start_here", "&Start Here", "Type your name, and see how it is cut and why"),
        Item("lessons", "&Lessons", "Learn byte-pair encoding in short steps", "Shift+F1", "lesson"),
        Item("keys", "&Keys", "Which key does what", Standard.HelpContents),
        Item("help", "&Help", "How to use this window"),
        Item("about", "&About BPE Explorer", "What this program is"),
    ),
}


class Actions:
    """The table made into actions of one window; each is an attribute by its name in `by_name`."""

    def __init__(self, window: QMainWindow, about_pages: Sequence[Item]) -> None:
        self._window = window
        self.by_name: dict[str, QAction] = {}
        self.menus: dict[str, QMenu] = {}
        self._items: list[Item] = []
        self.is_typing_refused = False  # what was being typed when the last action was wished
        for id, items in MENUS.items():
            menu = self.menus[id] = window.menuBar().addMenu(TITLES[id])
            for item in items:
                for action in about_pages if item is ABOUT_PAGES else (item,):
                    self._add(menu, action)
        self.call_steps("merge")
        self.recolor()

    def __getitem__(self, name: str) -> QAction:
        return self.by_name[name]

    def recolor(self) -> None:
        """Draw the icons in the palette's colours, after it has changed."""
        for item in self._items:
            if item.icon:
                self.set_icon(item.name, item.icon)

    def call_steps(self, step: str) -> None:
        """Name what the run's method makes one after the other as it is called there."""
        names = {"step": step, "steps": f"{step}s", "Step": step.capitalize(), "Steps": f"{step.capitalize()}s"}
        for item in self._items:
            action, told = self.by_name[item.name], item.tip.format(**names)
            if "{" in item.text:
                action.setText(item.text.format(**names))
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            action.setToolTip(tip(f"{told} ({keys})" if keys else told))
            action.setStatusTip(told)

    def set_icon(self, name: str, icon_name: str) -> None:
        self.by_name[name].setIcon(icon(icon_name, self._window.palette()))

    def _take_what_is_typed(self) -> None:
        self.is_typing_refused = not take_what_is_typed()

    def _add(self, menu: QMenu, item: Item) -> None:
        if item is SEPARATOR:
            menu.addSeparator()
            return
        action = QAction(item.text, self._window)
        action.setObjectName(item.name)
        action.setCheckable(item.checkable)
        action.setIconVisibleInMenu(False)
        shortcuts = item.shortcut if isinstance(item.shortcut, tuple) else (item.shortcut,)
        action.setShortcuts([QKeySequence(keys) for keys in shortcuts if keys is not None])
        action.triggered.connect(self._take_what_is_typed)  # before anything else hears of it
        self.by_name[item.name] = action
        self._items.append(item)
        menu.addAction(action)
