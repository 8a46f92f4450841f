from .api.calls import bounds as bounds
from .api.calls import claims as claims
from .api.calls import figure as figure
from .api.calls import fit as fit
from .api.calls import load_model as load_model
from .api.calls import look as look
from .api.calls import report as report
from .api.calls import run as run
from .api.calls import sweep as sweep
from .api.calls import table as table
from .api.calls import tune as tune
from .api.lists import datasets as datasets
from .api.lists import learners as learners
from .api.lists import papers as papers
from .api.lists import pools as pools
from .api.own import kernel as kernel
from .api.own import learner as learner
from .api.own import refit as refit
from .api.own import stack as stack
from .api.results import Results as Results
from .api.trained_model import Model as Model
from .api.tune import Tuning as Tuning

__version__: str
