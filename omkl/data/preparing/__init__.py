"""Preparing: from a table to the numbers that learners take, and again for new rows.

user_table  a frame's columns by name      columns     a column, its facts, and the features that it becomes
mending     what stops a run at a column, and the lines of pandas that mend it
labels      the task, and numbers for the classes
recipe      what becomes of all columns; a saved model keeps it
notes       what in the data may make every number wrong, for all sources
new_rows    rows of a file prepared as other data were
"""
