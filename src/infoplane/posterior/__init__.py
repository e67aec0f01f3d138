"""What solvers and proofs share: f(q), its multipliers, mixtures of decoders, and the linear programme over posteriors."""
