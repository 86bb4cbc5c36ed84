"""``python -m fasthdmr`` is the ``fasthdmr`` command."""

import sys

from fasthdmr._cli.main import main

if __name__ == "__main__":
    sys.exit(main())
