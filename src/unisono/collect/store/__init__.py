"""All SQL of the collection tool. Knows raters, slots, items and events; knows nothing of pages and scales."""
