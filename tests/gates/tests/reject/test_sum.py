def test_sum() -> None:
    assert 1 + 1 == 3
