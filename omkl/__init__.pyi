from .experiments.calls import bounds as bounds
from .experiments.calls import claims as claims
from .experiments.calls import figure as figure
from .experiments.calls import fit as fit
from .experiments.calls import load_model as load_model
from .experiments.calls import look as look
from .experiments.calls import report as report
from .experiments.calls import run as run
from .experiments.calls import sweep as sweep
from .experiments.calls import table as table
from .experiments.calls import tune as tune
from .experiments.lists import datasets as datasets
from .experiments.lists import learners as learners
from .experiments.lists import papers as papers
from .experiments.lists import pools as pools
from .experiments.own import kernel as kernel
from .experiments.own import learner as learner
from .experiments.own import refit as refit
from .experiments.own import stack as stack
from .experiments.results import Results as Results
from .experiments.trained_model import Model as Model
from .experiments.tune import Tuning as Tuning

__version__: str
