"""Fusers of categories: class probabilities instead of numbers. crowd-kit does the inference, if it is installed.

models     the models by name, and crowd-kit behind one function
fuse       every dimension fused, tempered and described
results    class probabilities and annotators as plain values and as tables
"""
