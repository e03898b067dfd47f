"""The actions of menus, toolbar and keys, declared in a single table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from app.window.parts.icons import icon
from app.window.parts.typed_text import apply_typed_text
from app.window.parts.wording import tip

Standard = QKeySequence.StandardKey


@dataclass(frozen=True)
class Item:
    name: str
    text: str  # {step}, {steps}, {Step} and {Steps} are replaced by the method's words
    tip: str = ""
    shortcut: str | Standard | tuple[str, ...] | None = None
    icon: str = ""
    checkable: bool = False


SEPARATOR = Item("", "")
ABOUT_PAGES = Item("pages", "")  # the place of the pages' actions

TITLES = {
    "file": "&File",
    "edit": "&Edit",
    "training": "&Training",
    "time": "T&ime",
    "ask": "&Ask",
    "view": "&View",
    "help": "&Help",
}
ELSEWHERE = ""
MENUS: dict[str, tuple[Item, ...]] = {
    "file": (
        Item("new_session", "&New Session", "Begin with an empty corpus. Unsaved work can be restored"),
        Item("open_session", "Open &Session …", "Open a saved session", "Ctrl+Alt+O"),
        Item("follow_run", "Fo&llow a Run …", "Watch a run while another program trains it"),
        Item("save", "Sa&ve Session", "Save corpus, runs, text and notes to a file", Standard.Save),
        Item("save_as", "Save Session &As …", "Save the session to another file", "Ctrl+Shift+S"),
        SEPARATOR,
        Item("open", "&Open Texts …", "Add text files to the corpus", Standard.Open, "open"),
        Item("open_folder", "Open &Folder …", "Add all files of a folder to the corpus", "Ctrl+Shift+O"),
        SEPARATOR,
        Item("import", "&Import Tokenizer …", "Open a tokenizer of another library", "Ctrl+I"),
        Item(
            "export",
            "&Export Tokenizer …",
            "Write the tokenizer for another library or as a table",
            "Ctrl+E",
            "export",
        ),
        Item("report", "&Report …", "Write a report of the run shown as one page"),
        Item(
            "share",
            "S&hare …",
            "Write a page for any browser. It shows the run, splits texts and plays all steps",
        ),
        Item("film", "Save Film …", "Write the run shown as an animation: PNG, GIF, or MP4 if ffmpeg is installed"),
        Item(
            "save_chart", "Save &Chart …", "Save the chart shown as PNG, SVG or PDF, or save its values", "Ctrl+Alt+S"
        ),
        SEPARATOR,
        Item("quit", "&Quit", "Close the window", Standard.Quit),
    ),
    "edit": (
        Item("undo", "&Undo", "Undo the last change", Standard.Undo, "undo"),
        Item("redo", "&Redo", "Redo the change that was undone last", Standard.Redo, "redo"),
        SEPARATOR,
        Item("copy_tsv", "&Copy {Steps}", "Copy the selected {steps}, ready to paste into a spreadsheet", None, "copy"),
        Item("copy_command", "Copy as Co&mmand", "Copy the command that gives the same answer in a terminal"),
        Item("copy_python", "Copy as &Python", "Copy the Python code that gives the same answer"),
        SEPARATOR,
        Item("find", "&Find {Steps}", "Filter the table of {steps}", Standard.Find, "search"),
    ),
    "training": (
        Item("main", "&Train", "Learn from the corpus, {step} by {step}", "F5", "train"),
        Item("new_run", "Train a &New Run", "Start a new run. Earlier runs stay", "Ctrl+F5"),
        Item(
            "live_learning",
            "Learn &at Once",
            "If the texts are small, train again after each change to the recipe or to the texts",
            checkable=True,
        ),
        Item("stop", "St&op", "End the training. The learned {steps} stay", "Shift+F5", "stop"),
        Item("count_imported", "Count on &My Corpus", "Count the tokens of an imported table in the corpus"),
        Item("extend_imported", "E&xtend on My Corpus …", "Add tokens to the table shown, as a new run. All ids stay"),
        Item(
            "replace_tokens",
            "&Replace Tokens on My Corpus …",
            "Replace tokens that your corpus hardly needs by better tokens with the same ids, as a new run",
        ),
        Item(
            "forbid",
            "&Forbid This {Step} and Go On",
            "Train a new run from the {step} shown, without its pair",
        ),
    ),
    "time": (
        Item("play", "&Play", "Show one {step} after the other", ("F7", "Space"), "train"),
        Item("back", "One {Step} &Back", "Go back by one {step}", ("Alt+Left", "Left"), "back"),
        Item("forward", "One {Step} &Forward", "Go on by one {step}", ("Alt+Right", "Right"), "step"),
        Item(
            "live",
            "&Jump to End and Stay",
            "Show the newest {step}, also during training",
            ("F8", "End"),
            "end",
            checkable=True,
        ),
        Item("go_to", "&Go to {Step} …", "Type the number of a {step}", "Ctrl+G"),
        SEPARATOR,
        Item("bookmark", "Book&mark", "Bookmark the step shown, or remove its bookmark", "Ctrl+D", "bookmark", True),
        SEPARATOR,
    ),
    "ask": (
        Item("why", "&Why Is It Split Here?", "Show why the text is split at the caret", "Ctrl+Shift+W"),
        Item(
            "token",
            "About the &Token",
            "Show facts about the token at the caret, or about the token of the {step} shown",
            "Ctrl+T",
        ),
        Item("tree", "&Merge Tree", "Show the merge tree of the clicked word in a large view", "Ctrl+Shift+T"),
        Item("paid", "W&hich Words Caused This {Step}?", "Show the words and files that caused the {step} shown"),
        SEPARATOR,
        Item("shelf", "In &Other Tokenizers …", "Show how GPT-2, GPT-4o, Llama 3, BERT and T5 split your text"),
        Item("encode", "&Encode Texts …", "Write the token ids of texts to a file", "Ctrl+Shift+E"),
    ),
    "view": (
        Item(
            "room_watch",
            "&Watch",
            "Watch how a vocabulary is learned, and how your word is split",
            "Ctrl+1",
            "",
            True,
        ),
        Item("room_ask", "&Ask", "Ask why a text is split where it is", "Ctrl+2", "", True),
        Item("room_compare", "&Compare", "Compare runs and tokenizers", "Ctrl+3", "", True),
        Item(
            "room_build", "&Build", "Choose texts and a recipe, and train, change or export a run", "Ctrl+4", "", True
        ),
        SEPARATOR,
        Item("ages", "Colour by A&ge", "Colour tokens by the {step} that made them", checkable=True),
        SEPARATOR,
    ),
    "help": (
        Item("find_anything", "&Find Anything …", "Find actions, files, lessons, tokens", ("Ctrl+K", "Ctrl+Shift+P")),
        Item("start_here", "&Start Here", "Type your name, and see how and why it is split"),
        Item("lessons", "&Lessons", "Learn byte-pair encoding in short steps", "Shift+F1", "lesson"),
        Item("manual", "&Manual", "Open the manual at the page shown", Standard.HelpContents),
        Item("about", "&About BPE Explorer", "Show the version and purpose of this program"),
    ),
    # Rarely used actions are in no menu or in a menu inside another, but have keys, and Find Anything lists them.
    ELSEWHERE: (
        Item("open_address", "O&pen from Address …", "Add texts from an address such as https:// or s3://"),
        Item(
            "count_apart",
            "Count &Words into a File …",
            "Count the words in the background, on this computer or a cluster",
        ),
        Item("paste_text", "Add Text from Clip&board", "Add the copied text to the corpus", "Ctrl+Shift+V", "paste"),
        Item("share_lessons", "Share &Lessons …", "Write all lessons as one page for a class, with checked answers"),
        Item("print_chart", "Save Fi&gure for Print …", "Save the chart shown as PDF, SVG or PNG in a size you choose"),
        Item("chart_chosen", "Charts of the Chosen {Steps}", "Show in all charts only the {steps} that are selected"),
        Item(
            "copy_file_command", "Copy Command for Last File", "Copy the command that recreates the file written last"
        ),
        Item(
            "copy_file_python", "Copy Python for Last File", "Copy the Python code that recreates the file written last"
        ),
        Item("copy_chart", "Copy C&hart", "Copy the visible chart as a picture", "Ctrl+Alt+C"),
        Item(
            "manifests",
            "&Save Reproducible Manifests",
            "Save a manifest beside each file, which says how the file was made",
            checkable=True,
        ),
        Item("compress_file", "Compress a Fi&le …", "Compress a file of any kind by replacing pairs of bytes"),
        Item("expand_file", "E&xpand a File …", "Restore the original of a compressed file"),
        Item("claim_sessions", "Open Sessions by &Double-Click", "Let the desktop open sessions with this program"),
        Item("copy_csv", "Copy {Steps} as C&SV", "Copy the selected {steps}, separated by commas"),
        Item("copy_headers", "Copy with &Titles", "Begin copied {steps} with a line of column titles", checkable=True),
        Item("step", "One &Step", "Make one {step}", "F6", "step"),
        Item(
            "runs",
            "&All Runs",
            "List all runs, to show, compare or train them again",
            "Ctrl+Shift+L",
        ),
        Item(
            "extend",
            "Continue to &Larger Vocabulary",
            "Continue to the vocabulary size that the recipe has now",
            "Ctrl+Shift+F5",
        ),
        Item("skip", "S&kip", "Stop playing, and show the end at once"),
        Item("first", "To the B&eginning", "Go to the moment before the first {step}", ("Alt+Home", "Home"), "start"),
        Item("note", "Write a &Note …", "Write a note about the step shown", "Ctrl+Shift+D"),
        Item(
            "copy_reference", "&Copy Reference", "Copy a reference to the step shown, such as bpe:1#200", "Ctrl+Shift+R"
        ),
        Item("plays", "Play &When Learned", "Play a small run from its beginning after its training", checkable=True),
        Item("motion", "Let Tiles M&ove", "Animate each {step} if the run is played slowly", checkable=True),
        Item("hold_out", "&Held-Out Text …", "Choose a held-out text, and measure vocabulary sizes on this text"),
        Item("rarity", "Colour by Rar&ity", "Colour tokens by how often they occurred in the corpus", checkable=True),
        Item(
            "full_screen",
            "&Full Screen",
            "Show the window on the whole screen, or leave full screen",
            "F11",
            "",
            True,
        ),
        Item("layout_projector", "&Projector", "Watch in large letters, without panels"),
        Item("layout_table", "&Table and Text", "Show the text beside a wide table of {steps}"),
        Item("layout_charts", "&Charts", "Give the charts nearly all the space"),
        Item("save_layout", "&Save This Layout", "Keep room, panels, their sizes and the zoom as your own layout"),
        Item("own_layout", "&My Layout", "Show the layout that you saved"),
        Item("zoom_in", "&Larger", "Make everything in the window larger", ("Ctrl++", "Ctrl+=")),
        Item("zoom_out", "S&maller", "Make everything in the window smaller", "Ctrl+-"),
        Item("zoom_usual", "&Usual Size", "Show everything in the window at 100 %", "Ctrl+0"),
        Item("console", "Open a C&onsole", "Ask about the runs in Python, in a console with `study`", "Ctrl+Alt+P"),
        Item("keys", "&Keys", "Show a list of all keys", "Ctrl+F1"),
        Item("whats_new", "What Is &New", "Show the changes since the last version"),
        ABOUT_PAGES,
    ),
}


class Actions:
    """The actions of a window, by name."""

    def __init__(self, window: QMainWindow, about_pages: Sequence[Item]) -> None:
        self._window = window
        self.by_name: dict[str, QAction] = {}
        self.menus: dict[str, QMenu] = {}
        self._items: list[Item] = []
        self._icons: dict[str, str] = {}  # by names of actions
        self._why_not: dict[str, str] = {}  # the reason why each action is disabled
        self.is_typing_refused = False  # whether the entry typed before the last action was refused
        for id, items in MENUS.items():
            if id != ELSEWHERE:
                self.menus[id] = window.menuBar().addMenu(TITLES[id])
            for item in items:
                for action in about_pages if item is ABOUT_PAGES else (item,):
                    self._add(self.menus.get(id, window), action)
        self.name_steps("merge")
        self.recolor()

    def __getitem__(self, name: str) -> QAction:
        return self.by_name[name]

    def recolor(self) -> None:
        for name, icon_name in self._icons.items():
            self.set_icon(name, icon_name)

    def name_steps(self, step: str) -> None:
        """Put the method's word for a step, such as "merge", into the texts of all actions."""
        names = {"step": step, "steps": f"{step}s", "Step": step.capitalize(), "Steps": f"{step.capitalize()}s"}
        for item in self._items:
            action = self.by_name[item.name]
            meaning = item.tip.format(**names)
            if "{" in item.text:
                action.setText(item.text.format(**names))
            action.setStatusTip(meaning)
            self._show_tip(item.name)

    def allow(self, name: str, why_not: str = "") -> None:
        """Enable an action. If `why_not` is not empty, disable the action and show the reason in its tip."""
        self.by_name[name].setEnabled(not why_not)
        self._why_not[name] = why_not
        self._show_tip(name)

    def disabled_actions(self) -> list[tuple[str, str]]:
        """Return the titles of disabled actions, each with the reason why the action is disabled."""
        disabled = (name for name, action in self.by_name.items() if not action.isEnabled())
        return [(title_of(self.by_name[name]), self._why_not.get(name, "")) for name in disabled]

    def _show_tip(self, name: str) -> None:
        action = self.by_name[name]
        meaning = action.statusTip()
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        first = f"{meaning} ({keys})" if keys else meaning
        action.setToolTip(tip("\n".join(filter(None, (first, self._why_not.get(name))))))

    def set_icon(self, name: str, icon_name: str) -> None:
        self._icons[name] = icon_name
        self.by_name[name].setIcon(icon(icon_name, self._window.palette()))

    def connect(self, **acts: Callable[[], object]) -> None:
        """Connect actions with functions. Each keyword is the name of an action, and its value is the
        function to call.
        """
        for name, act in acts.items():
            self.by_name[name].triggered.connect(lambda _=False, act=act: act())

    def _take_what_is_typed(self) -> None:
        self.is_typing_refused = not apply_typed_text()

    def _add(self, home: QMenu | QMainWindow, item: Item) -> None:
        if item is SEPARATOR:
            assert isinstance(home, QMenu)
            home.addSeparator()
            return
        action = QAction(item.text, self._window)
        action.setObjectName(item.name)
        action.setCheckable(item.checkable)
        action.setIconVisibleInMenu(False)
        shortcuts = item.shortcut if isinstance(item.shortcut, tuple) else (item.shortcut,)
        action.setShortcuts([QKeySequence(keys) for keys in shortcuts if keys is not None])
        action.triggered.connect(self._take_what_is_typed)  # connected before anything else
        assert item.name not in self.by_name, item.name
        self.by_name[item.name] = action
        self._items.append(item)
        if item.icon:
            self._icons[item.name] = item.icon
        home.addAction(action)


WAY = " › "


def actions_in(window: QMainWindow) -> Iterator[tuple[str, QAction]]:
    """Yield each action of a window with its path through the menus.

    The path is empty for an action in no menu. Menus that are usually filled when they open are filled first.
    """
    waiting = [("", action) for action in reversed([*window.menuBar().actions(), *window.actions()])]
    while waiting:
        way, action = waiting.pop()
        menu = action.menu()
        if isinstance(menu, QMenu):
            menu.aboutToShow.emit()
            inner = f"{way}{WAY}{title_of(action)}".removeprefix(WAY)
            waiting += [(inner, child) for child in reversed(menu.actions())]
        elif not action.isSeparator():
            yield way, action


def title_of(action: QAction) -> str:
    return action.text().replace("&&", "\0").replace("&", "").replace("\0", "&")


def keys_of(action: QAction) -> str:
    return " or ".join(keys.toString(QKeySequence.SequenceFormat.NativeText) for keys in action.shortcuts())
