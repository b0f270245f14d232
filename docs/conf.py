"""The documentation site: Sphinx with MyST and furo, built by `make docs` (tools/build_docs.py)."""

from unisono.version import __version__

project = "unisono"
author = "The unisono developers"
project_copyright = author
version = release = __version__
root_doc = "index"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
highlight_language = "none"  # blocks without a language are what commands print
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = f"unisono {release}"
myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_typehints = "description"
