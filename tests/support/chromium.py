"""How tests start Chromium."""

import shutil

# The sandbox needs rights that root in a container lacks; the rest keeps the browser off the network.
OPTIONS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def program() -> str:
    """Where it is."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    assert found, "Chromium is missing; tools/install-system-packages installs it"
    return found
