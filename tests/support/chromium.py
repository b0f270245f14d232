"""How tests start Chromium."""

PROGRAM = "/usr/bin/chromium"
# The sandbox needs rights that root in a container lacks; the rest keeps the browser off the network.
OPTIONS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
