"""Makes all that a publisher pushes: `make release`, or `python -m release` in the folder above.

What one commit is made of has the same bytes whoever makes it, as far as the engine of images
allows; `docs/decisions/0080-releases.md` says where it does not.
"""
