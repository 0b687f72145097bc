def f() -> int:
    return 1


def g() -> None:
    f()
