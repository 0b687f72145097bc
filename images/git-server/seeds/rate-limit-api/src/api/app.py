"""The web application."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel, HttpUrl

from api.store import Links, connect


class NewLink(BaseModel):
    url: HttpUrl


class Link(BaseModel):
    code: str
    url: str


def create_app(redis_url: str | None = None) -> FastAPI:
    """The API on the Redis at `redis_url` (default: the environment's REDIS_URL)."""
    redis = connect(redis_url or os.environ["REDIS_URL"])
    links = Links(redis)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await redis.aclose()

    app = FastAPI(title="links", version="1.0.0", lifespan=lifespan)

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.post("/links", status_code=201)
    async def add(link: NewLink) -> Link:
        url = str(link.url)
        return Link(code=await links.add(url), url=url)

    @app.get("/links/{code}")
    async def get(code: str) -> Link:
        url = await links.get(code)
        if url is None:
            raise HTTPException(404, f"there is no link '{code}'")
        return Link(code=code, url=url)

    @app.delete("/links/{code}", status_code=204)
    async def remove(code: str) -> None:
        if not await links.remove(code):
            raise HTTPException(404, f"there is no link '{code}'")

    return app
