"""Proofs of global optimality: lower bounds that hold over every encoder, and the encoders that attain them."""
