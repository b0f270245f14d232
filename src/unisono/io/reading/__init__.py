"""From a file or a data frame to validated containers, step by step."""
