"""Linear algebra on arrays: many small matrices at once, block tridiagonal matrices, causal filters. Knows no model."""
