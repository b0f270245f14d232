"""The model of ratings of items: one number per annotator, item and dimension."""
