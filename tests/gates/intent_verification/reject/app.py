def question() -> str:
    return '?'
