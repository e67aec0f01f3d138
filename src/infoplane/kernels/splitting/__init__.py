"""The recursions of Douglas-Rachford splitting and the steps of its blocks."""
