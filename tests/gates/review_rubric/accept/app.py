import subprocess


def show(name: str) -> None:
    subprocess.run(['cat', name], check=True)
