import os


def unused() -> int:
    return 1
