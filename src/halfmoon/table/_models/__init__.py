"""Models of tables: fitted to the encoded columns, and what they predict."""
