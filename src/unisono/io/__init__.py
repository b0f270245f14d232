"""Files and data frames: reading tables, writing results, saved fits. The only place that knows file formats."""
