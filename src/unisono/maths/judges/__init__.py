"""What follows from people and judges on the same items, whatever model made the predictions.

powered         prediction-powered means of systems and their differences, clustered
alternative     the alternative annotator test: may a judge take the place of a person?
"""
