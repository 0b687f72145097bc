"""What the page has for a Prometheus of one's own, read by Prometheus' own checker."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from tests import monitoring
from tests.programs.monitoring.promtool import promtool
from tests.unit.docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "how-to" / "monitor.md"


def test_prometheus_takes_the_configuration_of_the_page(tmp_path: Path) -> None:
    (block,) = [b for b in blocks("yaml") if b.page == PAGE and "prometheus.yml" in b.text]
    config = yaml.safe_load(block.text)
    (job,) = config["scrape_configs"]
    # Debian's is built without Kubernetes.
    assert job.pop("kubernetes_sd_configs")
    job["static_configs"] = [{"targets": ["192.0.2.1:8080"]}]
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    (tmp_path / "bernstein-rules.yaml").write_text(monitoring.rules())
    (tmp_path / "bernstein-ca.crt").write_text("")

    told = promtool("check", "config", "prometheus.yml", folder=tmp_path)

    assert f"{len(monitoring.every_rule())} rules found" in told


def test_prometheus_takes_the_queries_of_the_page(tmp_path: Path) -> None:
    (block,) = [b for b in blocks("promql") if b.page == PAGE]
    queries = block.text.splitlines()
    records = "".join(
        f"      - {{record: asked:{n}, expr: '{q}'}}\n" for n, q in enumerate(queries)
    )
    (tmp_path / "rules.yaml").write_text(f"groups:\n  - name: asked\n    rules:\n{records}")

    promtool("check", "rules", "rules.yaml", folder=tmp_path)

    assert re.findall(r'name="([\w-]+)"', block.text) == [monitoring.LEASE]
