"""`python3 -m tests.demo [NAMESPACE]` prints the example's objects for `kubectl apply -f -`."""

from __future__ import annotations

import sys

from tests.demo import manifests


def main() -> None:
    namespace = sys.argv[1] if len(sys.argv) > 1 else "bernstein-demo"
    _, objects = manifests.demo(namespace)
    print(manifests.as_list(objects))


if __name__ == "__main__":
    main()
