"""One file a problem: its data, its contenders, its table."""
