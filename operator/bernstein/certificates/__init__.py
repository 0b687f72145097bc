"""The server's certificate: made, renewed and kept in one Secret, by a process of its own."""
