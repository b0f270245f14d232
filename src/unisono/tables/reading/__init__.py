"""From a file or a data frame to validated containers, step by step.

open_table                     a path, `-` or a data frame as a table: formats by content, packed or not
delimited_text, json_and_workbooks, data_frames     the formats
raw_table                      named columns and rows in parts, before they mean anything
column_roles, table_layout     which column is the item, the annotator, the time; several columns that make one name
side_by_side_columns           annotators (or items) in columns
label_and_number_columns       cells as codes and numbers; cell_meanings: words as numbers
table_rows                     rows of ratings, wide or long; repeated ratings
column_selection               which columns are ratings, which are left out and why; kinds, impossible times
time_series, clock_alignment   traces on a common clock
ratings_reader, categories_reader, side_information     what the rest of the package calls
problems                       error messages that several files need
"""
