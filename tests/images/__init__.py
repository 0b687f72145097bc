"""Builds the project's container images on any machine: `python3 -m tests.images build [NAME...]`.

Where a Docker engine answers and can pull the base image, it is used. Elsewhere an engine of our
own is started for the build alone and the base image is made by debootstrap. What did not change
since the last build is neither built nor saved again; `manifest.json` in the cache says which
archive holds what.
Standard library only, so that it runs before any environment exists.
"""
