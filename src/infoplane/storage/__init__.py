"""What is written and read: whole files, .npz archives, and the SQLite store of a sweep; bytes and schemas, and nothing of it trusted."""
