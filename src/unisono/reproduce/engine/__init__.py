"""What every experiment runs on: units of work, stored results, claims, figures, the page."""
