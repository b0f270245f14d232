"""The desk of `unisono app`: a page on this machine that does what commands do, by clicks.

What is chosen on the page becomes the words of a command (`choices`), which runs in a process of its own (`jobs`,
`task`); so the page, the shell and Python give the same results and the same messages.
"""
