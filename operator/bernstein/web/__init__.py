"""What all of ours share that ask somebody over HTTP: models' providers, and forges.

Whoever answers may send without end, slowly, or nonsense, and may try to be sent a secret that is
meant for somebody else.
"""
