"""The paper's experiments, one file each: `unisono reproduce` runs them, draws its figures and judges its claims.

experiment   what an experiment is: units of work, and the chapter that is told from their numbers
store        finished units on disk, so that an interrupted run goes on where it stopped
run          units in processes, then results.json, figures and index.html
claims       verdicts, computed from numbers
protocol     one race between models under the paper's protocol, as plain numbers
charts       figures in one style
page         index.html
the others   data of an experiment (perception, embeddings, sources), or an experiment

Units compute and return plain JSON; chapters only read it. What is drawn or claimed can thus always be traced to
a number and a seed in results.json.
"""
