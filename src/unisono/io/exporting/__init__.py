"""Fused truth in the formats of other tools: what they can show beside the annotations it came from."""
