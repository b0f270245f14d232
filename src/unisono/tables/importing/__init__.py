"""From the files of other tools to a table of ratings: one reader of JSON underneath, a preset per tool on top."""
