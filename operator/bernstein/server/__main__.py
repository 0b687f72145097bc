"""`python3 -m bernstein.server`."""

from __future__ import annotations

import os
import ssl
import sys

from bernstein.core.sanitise import text
from bernstein.kube.errors import ConfigError
from bernstein.observe.logging import configure, logger
from bernstein.server.serve import run
from bernstein.server.settings import read

MAX_LOG_TEXT = 8000


def main() -> int:
    settings = read(sys.argv[1:], os.environ)
    configure(sanitise=lambda value: text(value, MAX_LOG_TEXT), level=settings.log_level)
    try:
        run(settings)
    except ConfigError as error:
        logger("bernstein.server").error(error.message, reason=error.reason)
        return 1
    except (ssl.SSLError, OSError) as error:
        logger("bernstein.server").error(
            "cannot listen; check host, port and the TLS files", problem=str(error)
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
