"""What people see of a finished fusion: the summary, report.json and report.html, plots, progress in notebooks.

summary                  summary.json and its text; `category_summary` for categories
report_data              everything the report says, as plain data: truths, annotators and categories beside it
report_page              report.html, made of report.json alone; its figures, highlights, alerts and methods beside it
plots                    `un.plot`: figures for papers, on axes of matplotlib
notebook_progress        progress bars in notebooks
"""
