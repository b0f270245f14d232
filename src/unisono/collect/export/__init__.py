"""The log as tables: what `unisono fuse` and `unisono score` read, and everything that was recorded beside it."""
