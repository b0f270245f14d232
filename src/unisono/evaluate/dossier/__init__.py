"""Everything a report says of a fusion, as plain data: what report.json holds and report.html shows."""
