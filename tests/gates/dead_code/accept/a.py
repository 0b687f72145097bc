def unused() -> int:
    return 1


print(2)
