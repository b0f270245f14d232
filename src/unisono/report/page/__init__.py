"""The report as one HTML file without network: built from the plain data of report.json, computes nothing."""
