"""What kind of annotator each is: the signal they share, response styles, the diagnosis, and gain priors from it."""
