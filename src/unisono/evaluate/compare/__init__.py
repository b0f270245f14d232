"""Every model on the same held-out ratings and left-out annotators: the leaderboard, and which differences are sure."""
