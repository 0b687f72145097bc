def share(whole: int, among: int) -> int:
    return whole * among
