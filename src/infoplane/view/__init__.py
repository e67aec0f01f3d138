"""Results to look at: pictures with matplotlib, and one HTML page that needs no network."""
