def test_f() -> None:
    assert True
