"""The web collection tool: a study file in, ratings out, nothing lost between.

languages the sentences that raters read, one file per language
studies   the study file, its items, its folder
stimuli   colours and moving colours with known truth (the paper's artificial task)
store     all SQL: raters, assignment, the append-only log
app       routes, pages, and what guards them
export    the log as tables that `unisono fuse` reads

Imports `unisono.tables`, `unisono.tables.exporting` and `unisono.errors`; never fusers nor maths.
"""
