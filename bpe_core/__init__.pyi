# The public names, on one page. `import bpe_core` loads each from here when it is first used.

# Making a study: train one, or open a file, a session, or another library's tokenizer.
from bpe_core.studies.making import open as open
from bpe_core.studies.making import train as train
from bpe_core.studies.study import Span as Span
from bpe_core.studies.study import Study as Study

# Texts and recipes.
from bpe_core.counting.count_words import count_words as count_words
from bpe_core.counting.words import WordTable as WordTable
from bpe_core.history.history import History as History
from bpe_core.history.history import Step as Step
from bpe_core.text.mixture import Group as Group
from bpe_core.text.mixture import Mixture as Mixture
from bpe_core.text.mixture import Sample as Sample
from bpe_core.recipes.presets import PRESETS as PRESETS  # named recipes
from bpe_core.recipes.recipe import Recipe as Recipe
from bpe_core.text.corpus import Corpus as Corpus
from bpe_core.text.pattern_names import NAMED_PATTERNS as NAMED_PATTERNS  # what splits text into words

# Asking: every question is a function, too, such as bpe.race(study, pairs=[("t", "h")]).
from bpe_core.asking.functions import *
from bpe_core.asking import Answer as Answer
from bpe_core.questions import ask as ask
from bpe_core.figures.painter import draw as draw
from bpe_core.measures.measures import MEASURES as MEASURES  # by the names of columns
from bpe_core.support.data_table import DataTable as DataTable
from bpe_core.support.data_table import write_data as write_data
from bpe_core.support.progress import Progress as Progress
from bpe_core.support.progress import Work as Work

# Documents to shards of ids.
from bpe_core.studies.shards import encode_documents as encode_documents

# Sharing.
from bpe_core.sharing.page import share as share
from bpe_core.sharing.page import share_lessons as share_lessons
from bpe_core.filming.film import film as film

# Changing tables.
from bpe_core.delivery.folder import deliver as deliver
from bpe_core.editing.extending import extend as extend
from bpe_core.editing.id_map import IdMap as IdMap
from bpe_core.editing.id_map_file import read_id_map as read_id_map
from bpe_core.editing.id_map_file import write_id_map as write_id_map
from bpe_core.editing.putting_together import put_together as put_together
from bpe_core.editing.replacing import replace as replace
from bpe_core.editing.specials import change_specials as change_specials
from bpe_core.editing.trimming import trim as trim
from bpe_core.studies.study import save as save  # a file, or a folder like another one

# Methods of one's own.
from bpe_core.methods.kit.check_method import check_method as check_method

# Mistakes.
from bpe_core.errors import BpeError as BpeError
from bpe_core.errors import Cancelled as Cancelled
from bpe_core.errors import CorpusError as CorpusError
from bpe_core.errors import EncodingError as EncodingError
from bpe_core.errors import FormatError as FormatError
from bpe_core.errors import LargeIdsWarning as LargeIdsWarning
from bpe_core.errors import NothingToLearn as NothingToLearn
from bpe_core.errors import OutputError as OutputError
from bpe_core.errors import PatternError as PatternError
from bpe_core.errors import RecipeError as RecipeError
from bpe_core.errors import TooLarge as TooLarge

__version__: str
