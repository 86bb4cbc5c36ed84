"""One file a contender."""
