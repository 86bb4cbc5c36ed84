"""The paper's tables and figures, its numbers beside ours."""
