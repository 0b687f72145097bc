"""Kinds of Kubernetes that only tests touch, in more than one tier."""

from __future__ import annotations

from bernstein.kube.resource import Resource

NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
NODES = Resource("", "v1", "nodes", "Node", namespaced=False)
BINDINGS = Resource("", "v1", "bindings", "Binding")
