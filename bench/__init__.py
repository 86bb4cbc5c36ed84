"""Benchmarks (`python -m bench`) and the paper's tables and figures (`python -m bench.paper`)."""
