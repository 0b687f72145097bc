def grade(points: int) -> str:
    if points >= 50:
        return 'pass'
    return 'fail'
