"""Files and data frames: the only place that knows file formats.

reading   from a file or a data frame to validated containers
tables    the public functions that read ratings and item tables
align     features, gold and references on the clock of the ratings
saved     fits on disk
writing   containers as columns of a table
"""
