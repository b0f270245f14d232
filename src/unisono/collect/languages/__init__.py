"""Every sentence that raters read and that the study does not write itself: one file per language, `en.toml` first."""
