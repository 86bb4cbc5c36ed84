import sys
from pathlib import Path

# The benchmarks are in the source tree only, not in the package.
sys.path.insert(0, str(Path(__file__).parents[2]))
