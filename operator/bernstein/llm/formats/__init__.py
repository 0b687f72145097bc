"""Wire formats of providers: one file each."""
