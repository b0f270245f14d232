"""What experiments are fed with: own data, recordings, embeddings, simulated perception."""
