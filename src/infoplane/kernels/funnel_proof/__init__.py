"""Branch and bound over supports, for the funnel."""
