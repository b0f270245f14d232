"""Results as files: the folder that a fusion writes, and the truth in the formats of other tools."""
