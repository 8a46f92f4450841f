"""Reading: from any source to a `DataTable`, a data frame with the line of each row, or to numbered columns.

opening     opens files with care: compression, encoding, blocks of lines
formats     which format a file has; Parquet, workbooks, JSON
delimited   CSV and its kin           arff       ARFF
tables      the table itself, from texts or from a frame
numbered    LIBSVM text, .npz, .mat: columns that have no names
"""
