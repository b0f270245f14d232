"""The command line: one short command per file. Nobody imports it."""
