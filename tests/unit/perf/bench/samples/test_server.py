"""What an API server's profile tells."""

from __future__ import annotations

import pytest

from tests.perf.bench.samples.server import WORKS, package, read
from tests.perf.bench.samples.stacks import Stack, work_of

TRACES = """\
File: kube
Type: cpu
Duration: 6s, Total samples = 40ms ( 0.67%)
-----------+-------------------------------------------------------
      10ms   runtime.futex
             runtime.mPark (inline)
             runtime.mcall
-----------+-------------------------------------------------------
      verb:  PATCH
    1230ms   encoding/json.(*Decoder).Decode
             k8s.io/apiserver/pkg/endpoints/handlers.PatchResource.func1
-----------+-------------------------------------------------------
"""


def test_each_stack_has_its_time_and_its_functions_and_no_labels() -> None:
    assert read(TRACES) == [
        Stack(10, ("runtime.futex", "runtime.mPark", "runtime.mcall")),
        Stack(
            1230,
            (
                "encoding/json.(*Decoder).Decode",
                "k8s.io/apiserver/pkg/endpoints/handlers.PatchResource.func1",
            ),
        ),
    ]


@pytest.mark.parametrize(
    ("function", "of"),
    [
        ("runtime.futex", "runtime"),
        ("net/http.(*Server).Serve", "net/http"),
        (
            "k8s.io/apiserver/pkg/storage/cacher.(*Cacher).GetList.func1",
            "k8s.io/apiserver/pkg/storage/cacher",
        ),
        ("slices.SortFunc[go.shape.[]k8s.io/api/core/v1.Pod]", "slices"),
    ],
)
def test_a_function_belongs_to_a_package(function: str, of: str) -> None:
    assert package(function) == of


@pytest.mark.parametrize(
    ("work", "functions"),
    [
        ("garbage collection", ["runtime.scanobject", "runtime.gcBgMarkWorker"]),
        (
            "admission policies",
            [
                "github.com/google/cel-go/cel.(*prog).Eval",
                "k8s.io/apiserver/pkg/admission/plugin/policy/validating.(*validator).Validate",
            ],
        ),
        (
            "rules of our kinds, in CEL",
            ["k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel.(*Validator).Validate"],
        ),
        (
            "tracking of fields",
            ["sigs.k8s.io/structured-merge-diff/v6/typed.AsTyped", "x/handlers.PatchResource"],
        ),
        (
            "telling who watches",
            [
                "encoding/json.Marshal",
                "k8s.io/apiserver/pkg/endpoints/handlers.(*WatchServer).HandleHTTP",
            ],
        ),
        ("etcd's client", ["google.golang.org/grpc.(*ClientConn).Invoke"]),
        (
            "the rest of requests",
            ["runtime.mallocgc", "k8s.io/apiserver/pkg/endpoints/handlers.ListResource"],
        ),
        ("TLS and HTTP", ["crypto/tls.(*Conn).Write", "net/http.(*http2Framer).endWrite"]),
        ("the rest", ["k8s.io/somewhere.Else"]),
    ],
)
def test_a_stack_is_of_the_work_that_it_is_for(work: str, functions: list[str]) -> None:
    assert work_of(Stack(10, tuple(functions)), WORKS) == work
