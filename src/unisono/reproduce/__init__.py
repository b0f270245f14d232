"""The paper's experiments: `unisono reproduce` runs them, draws its figures and judges its claims.

inputs         data that experiments are fed with: own data, recordings, embeddings, simulated perception
engine         units of work, their stored results, the paper's protocol, claims, figures, the page
experiments    one file per experiment

Units compute and return plain JSON; chapters only read it. What is drawn or claimed can thus always be traced to
a number and a seed in results.json.
"""
