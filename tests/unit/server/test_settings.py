from pathlib import Path

import pytest

from bernstein.server.settings import read


def test_the_port_of_the_callbacks_is_the_default() -> None:
    settings = read([], {})
    assert (settings.port, settings.log_level, settings.namespaces) == (8052, "info", ())
    assert (settings.tls_cert, settings.tls_key, settings.kubeconfig) == (None, None, None)


def test_environment_variables_are_read_and_flags_win() -> None:
    environment = {
        "BERNSTEIN_SERVER_PORT": "1",
        "BERNSTEIN_SERVER_LOG_LEVEL": "debug",
        "BERNSTEIN_SERVER_TLS_CERT": "/tls/tls.crt",
        "BERNSTEIN_SERVER_TLS_KEY": "/tls/tls.key",
        "BERNSTEIN_SERVER_NAMESPACES": "a,b",
    }
    settings = read(["--port=2"], environment)
    assert (settings.port, settings.log_level, settings.namespaces) == (2, "debug", ("a", "b"))
    assert (settings.tls_cert, settings.tls_key) == (Path("/tls/tls.crt"), Path("/tls/tls.key"))


@pytest.mark.parametrize(
    "flags",
    [["--tls-cert=a"], ["--tls-key=a"], ["--port=x"], ["--log-level=loud"], ["--unknown"]],
)
def test_nonsense_is_refused_with_the_usage(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exited:
        read(flags, {})
    assert exited.value.code == 2
    assert "usage: python3 -m bernstein.server" in capsys.readouterr().err
