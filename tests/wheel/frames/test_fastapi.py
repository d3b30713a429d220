"""The FastAPI example: its order under a fault is that of the lists without the fault, with and without a plan to fetch."""
import http.server
import importlib.util
import os
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import evenkeel  # noqa: E402
import numpy as np  # noqa: E402
from world import RULES, Arrays, Hotel, train_lightgbm  # noqa: E402

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
EXAMPLE = os.path.join(TOP, "python", "examples", "fastapi_ranker.py")
HAS_ONNX = all(importlib.util.find_spec(name) for name in ("onnxmltools", "onnxruntime"))
HAS_ALL = all(importlib.util.find_spec(name) for name in ("fastapi", "httpx", "lightgbm"))


class PlanServer:
    """HTTP server with one plan, or without any."""

    def __init__(self):
        self.plan, self.bytes_withheld = None, 0  # from the next answer
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = (outer.plan or "").encode()
                known = self.headers.get("If-None-Match") == '"1"'
                self.send_response(503 if not body else 304 if known else 200)
                self.send_header("ETag", '"1"')
                self.send_header("Content-Length", "0" if known else str(len(body)))
                self.end_headers()
                if not known:
                    self.wfile.write(body[:len(body) - outer.bytes_withheld])
                    outer.bytes_withheld = 0

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/api/v1/plan"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@unittest.skipUnless(HAS_ALL, "no fastapi, httpx or lightgbm")
class FastApi(Hotel):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        train = Arrays(cls.train, np.float64)
        cls.ranker = train_lightgbm(train.X, train.labels, train.starts)

    def start(self, model):
        self.server = PlanServer()
        self.addCleanup(self.server.close)
        os.environ.update(MODEL=model, PLAN_URL=self.server.url)
        spec = importlib.util.spec_from_file_location("fastapi_ranker", EXAMPLE)
        self.example = importlib.util.module_from_spec(spec)
        sys.modules["fastapi_ranker"] = self.example
        spec.loader.exec_module(self.example)
        self.example.RETRY_SECONDS = .05

    @staticmethod
    def body(message):
        return {"id": message["query"], "time_ms": message["time_ms"], "segments": message["segments"],
                "query_features": message["query_features"],
                "items": [{"id": item["id"], "features": item["features"]} for item in message["items"]]}

    def orders(self, client, lists):
        answers = [client.post("/rank", json=self.body(message)).json() for message in lists]
        return [[item["id"] for item in answer["items"]] for answer in answers], answers

    def test_the_order_is_kept_under_a_fault(self):
        self.ranker.save_model(self.path("ranker.txt"))
        self.start(self.path("ranker.txt"))
        self.check_order()

    @unittest.skipUnless(HAS_ONNX, "no onnxmltools or onnxruntime")
    def test_the_order_of_an_onnx_model_is_kept_under_a_fault(self):
        import onnxmltools
        from onnxmltools.convert.common.data_types import FloatTensorType
        model = onnxmltools.convert_lightgbm(self.ranker, initial_types=[("features", FloatTensorType([None, 13]))])
        with open(self.path("ranker.onnx"), "wb") as out:
            out.write(model.SerializeToString())
        self.start(self.path("ranker.onnx"))
        self.check_order()

    def test_an_incomplete_answer_does_not_end_the_fetches(self):
        self.start("none")
        self.server.plan, self.server.bytes_withheld = '{"entries": [], "version": 7}', 3
        follower = self.example.PlanFollower(self.server.url)
        self.addCleanup(follower.close)
        end = time.monotonic() + 30
        while not follower.plan and time.monotonic() < end:
            time.sleep(.05)
        self.assertEqual((follower.plan and follower.plan.version, self.server.bytes_withheld), (7, 0))

    def check_order(self):
        from fastapi.testclient import TestClient
        fault = Arrays(self.generate("fault.jsonl", 600, 8, "--fault", "price=x100,from=100"))
        healthy = Arrays(self.generate("healthy.jsonl", 600, 8))
        guard = evenkeel.Guard(self.manifest, self.profile, RULES)
        guard.observe(**fault.part(0, 400))
        with TestClient(self.example.app) as client:
            expected, answers = self.orders(client, healthy.messages[400:450])
            self.assertEqual({answer["plan_version"] for answer in answers}, {None})
            wrong, _ = self.orders(client, fault.messages[400:450])
            self.assertNotEqual(wrong, expected)
            self.server.plan = guard.plan.json
            end = time.monotonic() + 30
            while not self.example.app.state.follower.plan and time.monotonic() < end:
                time.sleep(.05)
            repaired, answers = self.orders(client, fault.messages[400:450])
            self.assertEqual(repaired, expected)
            self.assertTrue(all(answer["values_changed"] for answer in answers))


if __name__ == "__main__":
    unittest.main()
