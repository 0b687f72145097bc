"""A model check of the real engine in virtual time: `python -m tests.model`.

Everything of the operator runs as it is, but for the HTTP client. Around it, in memory: an API
server with its watches, the Job controller, the garbage collector, nodes whose pods are played, a
git remote, people who apply, edit, cancel and delete, and whatever can go wrong between them.
"""
