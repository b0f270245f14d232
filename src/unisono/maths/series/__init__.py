"""The model of traces: ratings over time, with a delay for every annotator."""
