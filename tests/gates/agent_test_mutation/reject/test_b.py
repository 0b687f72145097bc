from b import grade


def test_grade() -> None:
    grade(50)
