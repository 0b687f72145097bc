"""What the page about trying models lets readers type: its certificate and its server's command."""

from __future__ import annotations

import re
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml

from tests.unit.docs.pages import ROOT, blocks

PAGE = ROOT / "docs/how-to/try-models-without-a-provider.md"
HOST = "stub-llm.llm.svc"
SCRIPT, SERVER, *_ = [block.text for block in blocks("yaml") if block.page == PAGE]


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The container that judges ask, at a free port here, with the certificate of the page."""
    (made,) = [b.text for b in blocks("console") if b.page == PAGE and "openssl req" in b.text]
    typed = re.sub(r"^\$ ", "", made, flags=re.MULTILINE)
    subprocess.run(["bash", "-euc", typed], cwd=tmp_path, capture_output=True, check=True)
    (tmp_path / "scenarios.yaml").write_text(SCRIPT)
    deployment, _ = yaml.safe_load_all(SERVER)
    models, _ = deployment["spec"]["template"]["spec"]["containers"]
    here = {
        "python3": sys.executable,
        "0.0.0.0": "127.0.0.1",  # noqa: S104 - what the page says, of its pod
        "8443": "0",
        "/etc/stub-llm/scenarios.yaml": str(tmp_path / "scenarios.yaml"),
        "/etc/stub-llm-tls": str(tmp_path),
    }
    command = [here.get(word, word) for word in (*models["command"], *models["args"])]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip().replace("listening on http:", "https:")
        server.terminate()


def test_a_model_is_asked_over_tls_under_the_servers_name(url: str, tmp_path: Path) -> None:
    trusts = ssl.create_default_context(cafile=str(tmp_path / "llm-ca.crt"))
    asks = {"role": "user", "content": "[no] It says hello."}
    told = {"model": "any", "system": "You review one change to", "messages": [asks]}

    with httpx.Client(base_url=url, verify=trusts) as client:
        answer = client.post(
            "/v1/messages",
            json=told,
            headers={"x-api-key": "trial-key"},
            extensions={"sni_hostname": HOST},
        )

    assert answer.json()["content"][0]["text"].splitlines()[0] == "FAIL"
