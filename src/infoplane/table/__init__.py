"""For people with a table: columns compressed into few groups that keep what predicts a target; audits of a release."""
