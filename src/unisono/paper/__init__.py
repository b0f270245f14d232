"""The paper's experiments: `unisono reproduce` runs them, draws its figures and evaluates its claims.

experiment_*             one file per experiment of the paper
experiment_claims        what an experiment consists of, and the verdicts on claims; words are in experiment_words.toml
experiment_runs          experiments by name, units of work and their stored results
experiment_reporting     from results to tables and bars; `experiment_page` draws figures and writes the page
experiment_data          own data, recordings cut into pieces, simulated perception
paper_protocol           one comparison of models under the paper's protocol
simulation               ratings with a known truth, drawn from the model

Units compute and return plain JSON; chapters only read it. What is drawn or claimed can thus always be traced to a
number and a seed in results.json.
"""
