import subprocess


def run(x: str) -> None:
    subprocess.call(x, shell=True)
