"""The base of all questions: typed parameters, and answers about a study.

Each question is a frozen dataclass in its own file (`bpe_core/questions`). Its fields are the parameters, and its
docstring is its help. The command, the page in the window, the Python function, the section of a report, the exports
and the manifest are made from this class.
"""

from bpe_core.asking.answer import Answer as Answer
from bpe_core.asking.answer import cell_text as cell_text
from bpe_core.asking.headings import heading_of as heading_of
from bpe_core.asking.parameters import Pair as Pair
from bpe_core.asking.parameters import Parameter as Parameter
from bpe_core.asking.parameters import parameter as parameter
from bpe_core.asking.question import NONE as NONE
from bpe_core.asking.question import Question as Question
from bpe_core.asking.question import answered as answered
from bpe_core.asking.question import ask_about as ask_about
from bpe_core.asking.question import check_how_many as check_how_many
