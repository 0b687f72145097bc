import os


def show(name: str) -> None:
    os.system('cat ' + name)
