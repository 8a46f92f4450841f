"""A learner's state: a class for each kind of resource, as conf/algo declares it under ``about.state``.

{shape: [m, 2D], fill: 1/m, dtype: int, diagonal: 1/lam, grows: now, classes: true}   an array
{expansion: true, copies: levels, unless: tau}   an Expansion: all stored vectors; copies: of each kernel
{slots: budget}                                  a Budget: at most that many vectors per kernel
{slots: all}                                     a dictionary: a Budget without a limit
{features: D, kind: features}                    random Fourier features, D frequencies per kernel
{features: 50, kind: orthogonal, scaled: true}   the same of one that suits features of variance 1
rounds                                           the number of rounds of the pass

Sides of a shape: a number, ``m`` kernels, ``d`` features, ``few`` of them (d, or 0 where that is above 500),
a whole-number hyperparameter, a product of them such as ``2D`` or ``levels m``, or a sum of these such as
``2D m + 1 + linear d``, d last; or a dictionary's name, for as many as it has slots: ``G: {shape: [B, B]}``
is its Gram matrix, whose room grows with it.
``domain: "(0, 1]"`` says which numbers the array may hold, and
``gram: B`` that it holds the factored Gram matrices of a Budget or dictionary: a saved model that breaks
this, so that the learner would divide by 0, is refused. A fill or diagonal (of the last two sides): a number,
a hyperparameter, 1 over one or over a length. ``grows``: the last side, a hyperparameter that may be null,
gets its room as rounds come; they are counted in the array named. A ``kind`` is a hyperparameter, how the
frequencies are drawn, or what a hyperparameter's values stand for: ``{variant: {standard: iid, ...}}``. A
resource is None where ``unless`` is given, or ``slots`` is null. ``classes``: there is such an array for each
class, (C, m, 2D), C = 1 for two of them and for numbers. ``made_with: [eta, lam]``: hyperparameters whose
values the learner has put into the array, so that they cannot change in mid-stream; those that a form names
cannot anyway.

A learner's function takes a resource as an argument of its name. One that is annotated with a `Record` is
that record of the resources that its fields name.

A further kind is a subclass of `Resource` and an entry of ``_KINDS`` in state.py.
"""
