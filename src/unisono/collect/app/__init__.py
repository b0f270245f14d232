"""The web application: routes, pages, and what guards them. Requests end here; below are plain calls."""
