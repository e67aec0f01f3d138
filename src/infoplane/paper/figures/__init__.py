"""One module per figure of the paper: its pieces, its picture, its table, its claims."""
