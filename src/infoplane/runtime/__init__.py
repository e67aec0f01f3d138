"""How work is done, whatever the work is: its budget, its threads."""
