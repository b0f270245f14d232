"""All models on the same splits, and what follows from it."""
