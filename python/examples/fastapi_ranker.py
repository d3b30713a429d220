"""A service that scores lists with LightGBM or an ONNX model, and repairs their features by the plan of evenkeel before.

    MODEL=ranker.txt PLAN_URL=http://127.0.0.1:9464/api/v1/plan uvicorn fastapi_ranker:app

A thread asks for the next plan and waits at the server until there is one. While none can be fetched the last one stays in use,
so a service without evenkeel ranks as before.
"""
import http.client
import logging
import os
import threading
import time
import urllib.error
import urllib.request
from contextlib import asynccontextmanager
from typing import Any, Callable, Optional

import numpy as np
from evenkeel import Plan
from fastapi import FastAPI
from pydantic import BaseModel

WAIT_SECONDS, RETRY_SECONDS = 30, 5
log = logging.getLogger("ranker")


class PlanFollower:
    """The current plan of an instance."""

    def __init__(self, url: str) -> None:
        self.url, self.plan, self._tag = url, None, ""  # type: str, Optional[Plan], str
        self._stopping, self._failing = threading.Event(), False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stopping.set()

    def _fetch(self) -> None:
        request = urllib.request.Request(f"{self.url}?wait={WAIT_SECONDS}s", headers={"If-None-Match": self._tag} if self._tag else {})
        try:
            with urllib.request.urlopen(request, timeout=WAIT_SECONDS + 10) as response:
                self.plan, self._tag = Plan.load(response.read()), response.headers.get("ETag", "")
        except urllib.error.HTTPError as why:
            if why.code != 304:  # no other plan within the wait
                raise

    def _run(self) -> None:
        while not self._stopping.is_set():
            started = time.monotonic()
            try:
                self._fetch()
                self._failing = False
            except (OSError, ValueError, http.client.HTTPException) as why:
                if not self._failing:
                    log.warning("the plan cannot be fetched: %s", why)
                self._failing = True
            if time.monotonic() - started < 1:  # an error, or a server that does not wait
                self._stopping.wait(RETRY_SECONDS)


class Item(BaseModel):
    id: str
    features: list[Optional[float]]


class RankedList(BaseModel):
    id: str
    time_ms: int
    segments: dict[str, str] = {}
    query_features: list[Optional[float]] = []
    items: list[Item]


def load_ranker(path: str) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that gives rows of features their scores."""
    if path.endswith(".onnx"):
        import onnxruntime
        session = onnxruntime.InferenceSession(path)
        name = session.get_inputs()[0].name
        return lambda X: session.run(None, {name: X.astype(np.float32)})[0][:, 0]
    import lightgbm
    return lightgbm.Booster(model_file=path).predict


def to_array(rows: list[list[Optional[float]]]) -> np.ndarray:
    return np.array(rows, dtype=np.float64)  # None becomes NaN, a missing value


@asynccontextmanager
async def lifespan(service: FastAPI) -> Any:
    service.state.ranker = load_ranker(os.environ["MODEL"])
    service.state.follower = PlanFollower(os.environ["PLAN_URL"])
    yield
    service.state.follower.close()


app = FastAPI(lifespan=lifespan)


@app.post("/rank")
def rank(query: RankedList) -> dict[str, Any]:
    X, plan, changed = to_array([item.features for item in query.items]), app.state.follower.plan, 0
    if plan:
        changed = plan.apply(X, [0, len(X)], segments={name: [value] for name, value in query.segments.items()}, time_ms=[query.time_ms],
                             query_features=to_array([query.query_features]), ids=[query.id], item_ids=[item.id for item in query.items])
    scores = app.state.ranker(X)
    order = np.argsort(-scores, kind="stable")
    return {"items": [{"id": query.items[i].id, "score": float(scores[i])} for i in order],
            "plan_version": plan.version if plan else None, "values_changed": int(changed)}
