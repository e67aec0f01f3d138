"""What a table of records says about the population that they were drawn from.

A solver finds the optimum of a table. Whoever decides about a population wants to know what of it is left there: denoised joints,
held-out gains, intervals of information, named estimators. Everything here works on counts; nothing here optimises an encoder.
"""
