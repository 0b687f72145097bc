"""A small level-triggered reconcile engine on the Kubernetes API.

It knows no kinds of this project: controllers bring resources, decisions and names.
"""
