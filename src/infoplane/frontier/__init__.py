"""Many solutions of one joint as a curve on the information plane, and what people ask of it."""
