"""What kind of annotator each is: what the crowd shares, styles of answering, and priors that follow."""
