"""What Prometheus reads of the server."""

from bernstein.observe.metrics import ServerMetrics
from tests.unit.server.conftest import Callback


async def test_metrics_count_requests_by_route(recorder: Callback, metrics: ServerMetrics) -> None:
    await recorder.heartbeat()
    await recorder.http.get("/secret-path")
    await recorder.http.request("BREW", "/healthz")
    text = (await recorder.http.get("/metrics")).text

    route = "/v1/sessions/{namespace}/{name}/heartbeat"
    labels = {"method": "POST", "route": route, "code": "200"}
    assert metrics.registry.get_sample_value("bernstein_http_requests_total", labels) == 1
    assert 'method="other"' in text
    assert 'route="unmatched"' in text
    assert "secret-path" not in text
    assert "fix-s1" not in text
    assert "uid-1" not in text
    assert "team" not in text, "nor which namespaces there are"
    assert "reads the tests" not in text
