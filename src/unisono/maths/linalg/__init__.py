"""Linear algebra on arrays: small and banded matrices, chains, filters. Knows no model."""
