"""How far annotators agree, with labels: what `unisono agreement` and `un.agreement` give, and `unisono check` shows.

results     the result object
figures     figures of one dimension with their intervals; what is drawn together
traces      traces moved onto each other, for agreement beyond differences in delay
measure     everything together
"""
