def unused() -> int:
    return 1
