def f(x: int) -> int:
    if x:
        return 1
    return 2
