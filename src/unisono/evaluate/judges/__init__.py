"""People and judges: measure (the whole report), systems (means and leaderboard), replacing (judges for people)."""
