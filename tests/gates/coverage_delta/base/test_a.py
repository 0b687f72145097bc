from a import f


def test_f() -> None:
    assert f(1) == 1
