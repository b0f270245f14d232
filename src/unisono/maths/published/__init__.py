"""Models of ratings of items by other authors, each from its paper; `fusers.published_items` gives them labels.

annotator_types     who is competent, biased, adversary or spammer (Kara et al. 2015)
item_regions        noise that depends on the item, by region (Audhkhasi and Narayanan 2013)
class_confusions    categories: confusions by region, with a predictor (Smyth 1995, Raykar 2010, Audhkhasi 2013)
curved_annotators   answers as functions of squares, products and absolute values of the truth
published_answers   what goes in and what comes out
May import NumPy, SciPy and other files of `maths`; knows no labels.
"""
