"""Everything that can be done by menu, toolbar or key, declared in one table."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from app.window.parts.icons import icon

Standard = QKeySequence.StandardKey


@dataclass(frozen=True)
class Deed:
    """One action: how it is called, reached and explained."""

    name: str
    text: str
    tip: str = ""
    shortcut: str | Standard | None = None
    icon: str = ""
    checkable: bool = False


SEPARATOR = Deed("", "")

MENUS: dict[str, tuple[Deed, ...]] = {
    "&File": (
        Deed("new_session", "&New Session", "Begin with an empty corpus; what was not saved can be brought back"),
        Deed("open_session", "Open &Session …", "Open a session that was saved", "Ctrl+Alt+O"),
        Deed("save", "Sa&ve Session", "Keep corpus, runs, text and notes in a file", Standard.Save),
        Deed("save_as", "Save Session &As …", "Keep the session in another file", "Ctrl+Shift+S"),
        SEPARATOR,
        Deed("open", "&Open Texts …", "Add text files to the corpus", Standard.Open, "open"),
        Deed("open_folder", "Open &Folder …", "Add all files of a folder to the corpus", "Ctrl+Shift+O"),
        Deed("paste_text", "Add Text from Clip&board", "Add what was copied to the corpus", "Ctrl+Shift+V", "paste"),
        SEPARATOR,
        Deed("import", "&Import Tokenizer …", "Open a tokenizer that was made elsewhere", "Ctrl+I"),
        Deed(
            "export", "&Export Merge Table …", "Write the merges for another library or as a table", "Ctrl+E", "export"
        ),
        Deed("report", "&Report …", "Write the run shown as one page that can be mailed"),
        Deed("save_chart", "Save &Chart …", "Save the chart shown as PNG, SVG or CSV", "Ctrl+Alt+S"),
        Deed("copy_chart", "Copy C&hart", "Copy the chart shown as a picture", "Ctrl+Alt+C"),
        SEPARATOR,
        Deed(
            "claim_sessions", "Open Sessions by &Double-Click", "Let the desktop open session files with this program"
        ),
        Deed("quit", "&Quit", "Close the window", Standard.Quit),
    ),
    "&Edit": (
        Deed("undo", "&Undo", "Take back the last change", Standard.Undo, "undo"),
        Deed("redo", "&Redo", "Make the change again", Standard.Redo, "redo"),
        SEPARATOR,
        Deed("copy_tsv", "&Copy Merges", "Copy the selected merges, ready to paste into a spreadsheet", None, "copy"),
        Deed("copy_csv", "Copy Merges as C&SV", "Copy the selected merges, separated by commas"),
        Deed("copy_headers", "Copy with &Titles", "Whether copied merges begin with a line of titles", checkable=True),
        SEPARATOR,
        Deed("find", "&Find Merges", "Filter the merge table", Standard.Find, "search"),
    ),
    "&Training": (
        Deed("main", "&Train", "Learn merges from the corpus", "F5", "train"),
        Deed("new_run", "Train a &New Run", "Begin again; earlier runs stay", "Ctrl+F5"),
        Deed("step", "One &Step", "Learn one merge", "F6", "step"),
        Deed("stop", "St&op", "End the training; what was learned stays", "Shift+F5", "stop"),
        Deed(
            "count_imported", "Count on &My Corpus", "Find the counts of an imported table in the texts of the corpus"
        ),
        Deed("runs", "&All Runs", "List all runs: look at one, train again with another rule, compare", "Ctrl+Shift+L"),
        Deed("extend", "Continue to &Larger Vocabulary", "Go on to the size the recipe now asks for", "Ctrl+Shift+F5"),
    ),
    "T&ime": (
        Deed("play", "&Play History", "Let the moment shown walk forward by itself", "F7", "train"),
        Deed("back", "One Merge &Back", "Show the world one merge earlier", "Alt+Left", "back"),
        Deed("forward", "One Merge &Forward", "Show the world one merge later", "Alt+Right", "step"),
        Deed("first", "To the B&eginning", "Show the world before the first merge", "Alt+Home", "start"),
        Deed("live", "&Live", "Return to the newest merge and stay there", "F8", "live", checkable=True),
        Deed("go_to", "&Go to Merge …", "Type the number of a merge", "Ctrl+G"),
        SEPARATOR,
        Deed(
            "bookmark",
            "Book&mark",
            "Remember the moment shown, or forget it again",
            "Ctrl+D",
            "bookmark",
            checkable=True,
        ),
        Deed("note", "Write a &Note …", "Write about the moment shown", "Ctrl+Shift+D"),
        Deed("copy_reference", "&Copy Reference", "Copy the moment shown as bpe:run#merge", "Ctrl+Shift+R"),
    ),
    "&Ask": (
        Deed("why", "&Why Is It Cut Here?", "Show why the text is cut where the caret stands", "Ctrl+Shift+W"),
        Deed("token", "About the &Token", "Show the life of the token at the caret, or of the merge shown", "Ctrl+T"),
        Deed("paid", "What &Paid for It?", "Show the words and files that the merge shown was made for"),
        Deed("race", "The &Race of Pairs", "Follow the counts of chosen pairs through the training"),
        Deed("follow", "&Follow This Pair", "Let the pair of the merge shown run against the others", "Ctrl+Shift+F"),
        Deed("sizes", "Which Vocabulary &Size?", "Show what each size would mean for your texts"),
        Deed("ties", "What Did the T&ies Decide?", "List the merges that a tie decided, and try another rule"),
        Deed("compare", "&Compare with Another …", "Put another run or tokenizer beside the one shown"),
        SEPARATOR,
        Deed("hold_out", "&Held-Out Text …", "Name a text that is not learned from, to measure sizes by"),
        Deed("encode", "&Encode Texts …", "Write whole texts as token ids into a file", "Ctrl+Shift+E"),
    ),
    "&View": (),
    "&Help": (
        Deed("lessons", "&Lessons", "Learn byte-pair encoding in short steps", "Shift+F1", "lesson"),
        Deed("help", "&Help", "How to use this window", Standard.HelpContents),
        Deed("about", "&About BPE Explorer", "What this program is"),
    ),
}


class Actions:
    """The table made into actions of one window; each is an attribute by its name in `by_name`."""

    def __init__(self, window: QMainWindow) -> None:
        self._window = window
        self.by_name: dict[str, QAction] = {}
        self.menus: dict[str, QMenu] = {}
        for title, deeds in MENUS.items():
            menu = window.menuBar().addMenu(title)
            self.menus[title.replace("&", "")] = menu
            for deed in deeds:
                if deed is SEPARATOR:
                    menu.addSeparator()
                else:
                    menu.addAction(self._action(deed))
        self.recolor()

    def __getitem__(self, name: str) -> QAction:
        return self.by_name[name]

    def recolor(self) -> None:
        """Draw the icons in the palette's colours, after it has changed."""
        for deeds in MENUS.values():
            for deed in deeds:
                if deed.icon:
                    self.set_icon(deed.name, deed.icon)

    def set_icon(self, name: str, icon_name: str) -> None:
        self.by_name[name].setIcon(icon(icon_name, self._window.palette()))

    def _action(self, deed: Deed) -> QAction:
        action = QAction(deed.text, self._window)
        action.setObjectName(deed.name)
        action.setCheckable(deed.checkable)
        action.setIconVisibleInMenu(False)
        if deed.shortcut is not None:
            action.setShortcut(QKeySequence(deed.shortcut))
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        action.setToolTip(f"{deed.tip} ({keys})" if keys else deed.tip)
        action.setStatusTip(deed.tip)
        self.by_name[deed.name] = action
        return action
