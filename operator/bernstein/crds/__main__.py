from __future__ import annotations

import sys

from bernstein.crds.files import main

sys.exit(main(sys.argv[1:]))
