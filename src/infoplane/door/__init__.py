"""The door: what people bring as p(x, y) is checked here, once, and copied; behind it nothing is checked again.

Every refusal is an `InvalidJointError` that says what was expected, what was found and where, and what to do.
"""
