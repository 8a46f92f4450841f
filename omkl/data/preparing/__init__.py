"""Preparing: from a table to the numbers that learners take, and again for new rows.

columns    what a column is: numbers, words or dates, or what stops the run
labels     the task, and numbers for the classes
recipe     what becomes of all columns; a saved model keeps it
notes      what in the data may make every number wrong, for all sources
new_rows   rows of a file prepared as other data were
"""
