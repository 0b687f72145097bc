import app


def test_a_half() -> None:
    assert app.share(4, 2) == 2
