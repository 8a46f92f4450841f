"""What `omkl --help` says, and `omkl COMMAND --help` below the options, in the order of the commands."""

START = """\
start here:
  omkl run algo=auto,omkc_ss data=wdbc               a first table, of data that come with omkl
  omkl data look my.csv                              what omkl understands of a file of yours
  omkl run algo=auto data=my.csv label=COLUMN        learners on that file
  omkl list                                          what there is: learners, data sets, kernels, measures
  omkl help run                                      the settings and options of a command
"""
GROUPS = {
    "start": ("run", "sweep", "tune", "data"),
    "look": ("figure", "report", "list", "show"),
    "papers": ("table", "claims", "bounds"),
    "models": ("fit", "predict", "update"),
    "store": ("status", "results"),
    "tools": ("check", "compile", "completion", "help"),
}  # of the commands
ENDS = """\
Options: --version prints the version; --debug shows the traceback of an error.
Exit codes: 0 ok, 1 something failed, 2 a mistake in the command, 130 Ctrl-C."""
_CHOICES = """\
settings (omkl show prints all of them, with their meaning and domain):
  algo=NAME,...      learners (omkl list algos)    algo.KEY=VALUE   their hyperparameters
                     algo=all, 'algo=omkc_*' or algo=budget (omkl list groups): those that fit the data
  algo.NAME.KEY=VALUE, 'algo=NAME(KEY=VALUE,label=TEXT),...'    hyperparameters of one learner
  settings=FILE      learners with settings of their own, as omkl tune --out FILE writes them
  data=NAME,...      data sets (omkl list data) or paths of your own files
  for your own table (`omkl data look FILE` shows what is understood; docs/tutorials/your-data.md says more):
    label=COLUMN     what is predicted           positive=CLASS   the class that is +1 against all others
    drop=A,B  id=A   columns that are left out   missing=mean     fill gaps, or missing=drop such rows
    task=regression  the labels are numbers      categorical=onehot|letters   what words become
    scale=minmax|standard  over the whole file; scale=online: with the rows seen so far, for all data
    header= delimiter= encoding= decimal= thousands= na= dates= day_first= target=; LIBSVM: index_base= qid=
  pool=NAME,...      kernel pools (omkl list pools)
                     pool.normalise=none|cosine   'pool.kernels=[{kind:gaussian,sigma:[1,2]},{kind:linear}]'
  rounds=N           of each repetition: 5000 (the first ones), 5000: (those after them), 1000:5000 (a part)
  delay=N            labels come in batches of N rounds, each predicted with what was learnt before it
  test=SHARE|NAME|FILE   rows that are not learnt, on which the last and the averaged hypothesis are measured
  order=KIND         permuted, file (as stored), authors (the OMKC authors' permutations)
"""
KEYS = f"""\
{_CHOICES}\
  reps=N  seed=N     repetitions, and the base seed of their permutations
  yardsticks=[...]   learners to compare with; [] for none
  store=PATH         folder of the results (else OMKL_STORE, else ./results)
  exec=NAME          where the cells run: {{executors}}; exec.KEY=VALUE their options
"""
FIT = f"""\
One learner makes one pass over one data set; with order=permuted in the first permutation of seed=N.

{_CHOICES}"""
RUN = """\
examples:
  omkl run algo=omkc_ss data=a9a
  omkl run algo=omkc_dd data=german reps=10 pool=paper16 algo.beta=0.99 seed=1
  omkl run algo=omkc_dd data=a9a_train order=file algo.beta=0.99 --format json
  omkl run algo=omkc_ss data=path/to/my.libsvm -j 4
  omkl run algo=perceptron 'algo.kernel={kind:gaussian,gamma:0.01}' data=a9a_train order=file
"""
SWEEP = """\
Hyperparameters and parts of the pool take lists here: 0.1,0.5  range(0.1,1,0.1)  choice(max,sum).
A hyperparameter applies to the learners that have it.

examples:
  omkl sweep algo=omkc_dd,omkc_ss data=wdbc,svmguide3 algo.beta=0.1,0.3,0.5,0.8,0.95 algo.delta=0.01,0.1
  omkl sweep algo=omkc_dd data=german 'algo.beta=range(0.1,1,0.1)' reps=10
"""
TUNE = """\
Each learner gets the same number of trials: its default, then settings from the ranges that its file gives.
They are compared on growing prefixes of the stream, over permutations that are never reported. With
order=file they see the first third of the rounds, and the rest is reported. algo.KEY=VALUE keeps a
hyperparameter at that value. --out FILE writes the best settings; settings=FILE runs them, side by side.

  trials=30          settings of each learner on each data set
  eta=3 rungs=3      one in eta goes on to the next prefix, eta times as long; the last is the whole stream
  passes=3           permutations that judge a trial       least=500     rounds of the shortest prefix
  small=2000         streams of at most this many rounds are not cut; four permutations judge there
  pools=NAME,...     pools among which a learner with a pool chooses; pool=NAME keeps one
  longest=SECONDS    a setting whose next pass would take longer does not go on
  by=MEASURE         measure by which trials are judged, such as auc, log_loss or mae
  sampler=tpe        settings are proposed from the results of earlier ones (needs omkl[tpe])

examples:
  omkl tune algo=rff,arow data=german --out best.yaml
  omkl tune algo=budget data=svmguide3 trials=10 reps=5 --format json
  omkl tune algo=norma data=elec2 order=file longest=60
  omkl tune today --data german     the learners that the page conf/paper/today.yaml tunes
"""
FIGURE = """\
With measure=NAME a curve shows one measure, such as nlpd, log_loss or n_sv_union, instead of error and #SV,
and a sweep shows that measure, such as auc or kappa, instead of the error.

examples:
  omkl figure curve algo=omkc_ss data=wdbc
  omkl figure curve algo=omkc_dd,omkc_ss data=german,a9a --out figures/
  omkl figure sweep algo=omkc_dd data=wdbc 'algo.beta=range(0.1,1,0.1)' --out beta.pdf
  omkl figure curve algo=omkc_dd data=wdbc --out a.pdf --width 3.3in --style paper --no-title
  omkl figure confusion algo=omkc_dd data=digits                     which classes are mistaken for which
  omkl figure ranks algo=omkc_dd,omkc_ss,alma data=wdbc,german,svmguide3
  omkl figure omkc/1 --quick            runs the missing cells, then draws the paper's figure
"""
PAPER = """\
NAME is PAPER/NUMBER (or PAPER where it has only one); `omkl list papers` shows all names. Cells are kept in
the store and shared between tables; only missing cells are run. Run an interrupted command again to continue.
KEY=VALUE words set store, seed, exec and block; the paper sets everything else.

examples:
  omkl table bomkl/1 --quick
  omkl table omkc/3 --data wdbc,sonar_scale --reps 5 --format markdown
  omkl table bomkl/2 --data german --algo omkc_dd       one more learner, on the same streams
  omkl table bomkl/1 --data german=my/german.libsvm     the set's own file, checked against its content hash
  omkl claims omkc --quick
"""
BOUNDS = """\
Runs the missing cells as omkl run does, and evaluates each theorem's right-hand side at a batch solution:
a support vector machine, batch multiple kernel learning, or least squares. Yardsticks are left out.

examples:
  omkl bounds algo=omkc_dd data=wdbc
  omkl bounds algo=omkc_dd,omklp_da2,bomkc_spa data=wdbc,german pool=paper16_cosine --format markdown
  omkl bounds algo=raker,adaraker data=switch_numbers order=file reps=1      regret
"""
MODEL = """\
A model keeps the learner, its hyperparameters and kernels, and how the table was prepared, so that new rows
are prepared in the same way. Scores are those that the next round of the run would have had.

examples:
  omkl fit algo=omkc_ss data=my.csv label=class missing=mean scale=minmax --out model.omkl
  omkl predict model.omkl new.csv --out predicted.csv
  omkl update model.omkl more.csv
  omkl show model.omkl
"""
REPORT = """\
Writes one HTML file with sortable tables, figures, data sets, commands and the origin of what the store
holds. It runs nothing: rows that lack repetitions are named at the top.

examples:
  omkl report algo=omkc_ss,omkc_dd data=wdbc --out report.html
  omkl report algo=omkc_dd data=wdbc 'algo.beta=range(0.1,1,0.1)'      a sweep
  omkl report bomkl                     a paper, with the published values
  omkl report --all data=wdbc           everything that the store holds on a data set
"""
LIST = """\
Without a KIND, the kinds are listed.

examples:
  omkl list algos
  omkl list kernels
"""
DATA = """\
OMKL_DATA lists folders to look in, as PATH does; missing sets are downloaded to the cache and verified.
OMKL_MIRROR (a URL or folder) replaces the sets' own addresses, OMKL_OFFLINE=1 forbids downloads.

`omkl data look FILE` takes the settings of your own table (header= delimiter= label= drop= ...) and shows
how it is understood: each column, its values, what a run does with it, and the words that change this.

examples:
  omkl data list
  omkl data look my.csv label=class missing=mean
  omkl data get german a9a
  omkl data verify          all that are present
  omkl data path wdbc
"""
RESULTS = """\
  list    show what the store holds: learners x data x settings, cells, revisions, dates, machines
  export  write all cells as one flat table: CSV to stdout, or --out FILE.csv or FILE.parquet (needs pyarrow)
  merge   copy the lines of other stores (folders) that this one lacks; the newer of two results counts
  prune   remove what no table uses: superseded lines, failures that succeeded later (only with --yes)

settings: store=PATH (else OMKL_STORE, else ./results); list and export: algo=NAME,... data=NAME,...

examples:
  omkl results list
  omkl results list store=/mnt/big/results algo=omkc_dd --format csv
  omkl results export data=wdbc,german --out cells.parquet
  omkl results merge /mnt/node1/results /mnt/node2/results store=all
  omkl results prune --old
"""
CHECK = """\
Reads every file of the folder (also given by --with, or OMKL_PATH). Then it compares each learner with
its naive twin in tests/reference, round by round, and runs the contracts that omkl's own learners keep:
seeds, inputs, block sizes, passes in parts, scoring, extreme numbers. For each kernel it checks that values
are finite, symmetric and positive semidefinite, on random vectors, the folder's data sets and those named. It
compares sums of them, and learners that use the kernel, with plain versions. Exit code 1 if a check fails.

examples:
  omkl check mylearners/
  omkl check mykernels/ data=wdbc
"""
COMPLETION = """\
Completes commands, options, KEY= and names: learners, data sets, pools, hyperparameters and their choices.

  bash   add to ~/.bashrc:                        source <(omkl completion bash)
  zsh    add to ~/.zshrc, below compinit:         source <(omkl completion zsh)
  fish   add to ~/.config/fish/config.fish:       omkl completion fish | source
"""

COMPILE = """\
A run compiles what it needs, once for each kind of processor and version of omkl, and keeps it in OMKL_CACHE.
This command does it ahead of time: for all learners or those named, for two classes and for more.

examples:
  omkl compile algo=omkc_ss,omkc_dd
  OMKL_CACHE=/srv/omkl omkl compile
"""
