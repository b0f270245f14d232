"""Questions asked of ratings and of fits. Above `fusers`, below `report`: nothing here is printed or written.

overview                 what `unisono check` tells of a table, before anything is fused
alerts                   what deserves attention in ratings, known truths and kinds of annotators
annotator_findings       spammers and unusual response styles, from the diagnosis of a fit
agreement_measure        inter-rater reliability and agreement, with confidence intervals; its results beside it
scoring                  a fused truth against a reference
model_comparison         every model on the same held-out ratings; `held_out_comparisons` for comparisons
comparison_overview      what `unisono check` tells of a table of comparisons
cross_validation         the paper's protocol: train, validation and test items
judges_beside_people     automatic judges beside human raters; `system_leaderboard` for means of systems
study_quality            a running study: agreement, ratings still needed, raters who stand out
held_out_ratings         every random split of ratings, annotators or items; predictions of what was held out
"""
