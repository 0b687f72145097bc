"""The record that declares a route."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Response
from pydantic import BaseModel


@dataclass(frozen=True)
class Route:
    """One HTTP method on one path.

    The OpenAPI document is made of the handler's name, its docstring and the model that it returns.
    """

    method: str
    path: str
    handler: Callable[..., Any]
    body: type[BaseModel] | None = None
    """The model of the request's body, for the OpenAPI document only: handlers read the body
    themselves, under limits."""
    answers: type[Response] | None = None
    """The class of an answer that is not JSON."""
    public: bool = False
    """Whether callers need no token. This only documents it: handlers ask for the token."""
    frequent: bool = False
    """Whether it is called so often that the access log leaves out its successes."""

    def add_to(self, app: FastAPI) -> None:
        more: dict[str, Any] = {}
        if self.body is not None:
            content = {"application/json": {"schema": self.body.model_json_schema()}}
            more["openapi_extra"] = {"requestBody": {"required": True, "content": content}}
        if self.answers is not None:
            more["response_class"] = self.answers
        app.add_api_route(self.path, self.handler, methods=[self.method], **more)
