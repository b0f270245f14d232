"""What kind of annotator each is: shared signal, styles of answering, diagnosis, and the gain priors that follow."""
