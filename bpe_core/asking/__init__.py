"""A question: typed parameters, and an answer made of a study.

Each question is a frozen dataclass in a file of its own (`bpe_core/questions`). Its fields are the parameters, its
docstring is its help. From these follow the command, the page in the window, the Python function, the section of a
report, the exports, and the manifest: nobody writes them again.
"""

from bpe_core.asking.answer import Answer as Answer
from bpe_core.asking.answer import cell_text as cell_text
from bpe_core.asking.answer import heading_of as heading_of
from bpe_core.asking.parameters import Pair as Pair
from bpe_core.asking.parameters import Parameter as Parameter
from bpe_core.asking.parameters import parameter as parameter
from bpe_core.asking.question import NONE as NONE
from bpe_core.asking.question import Question as Question
from bpe_core.asking.question import ask_about as ask_about
from bpe_core.asking.question import check_how_many as check_how_many
