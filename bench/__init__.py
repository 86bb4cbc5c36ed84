"""Two rooms: the benchmarks (`python -m bench`: problems, contenders) and the paper (`python -m bench.paper`).

Both build on the files beside this one; neither imports the other.
"""
