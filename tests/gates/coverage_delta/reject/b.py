def g() -> int:
    return 3
