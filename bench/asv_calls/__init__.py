"""The ten calls of `bench.workloads`, for asv."""
