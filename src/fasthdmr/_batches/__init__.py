"""Data in batches: rows that are read part by part, because they do not fit into memory."""
