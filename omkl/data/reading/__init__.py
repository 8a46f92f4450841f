"""Reading: from a file to a frame of pandas, or to numbered columns.

opening     opens files with care: compression, blocks of lines
formats     which format a file has, and the call of pandas that reads it; ARFF
numbered    LIBSVM text, .npz: columns that have no names
"""
