def test_sum(benchmark) -> None:
    benchmark(sum, range(200000))
