"""The paper's tables and figures, one file each, its numbers beside ours."""
