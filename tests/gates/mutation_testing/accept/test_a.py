from a import grade


def test_grade() -> None:
    assert [grade(n) for n in (49, 50, 51)] == ['fail', 'pass', 'pass']
