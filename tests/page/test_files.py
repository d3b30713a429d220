"""Files of the page over plain HTTP: tags, compression, policy, size."""
import gzip
import http.client
import re
import unittest

import kept

MOST_BYTES = 150_000
POLICY = {"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'",
          "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'"}


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scene = kept.found()

    def ask(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection(self.scene.daemon.http, timeout=180)
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), body

    def paths(self):
        _, _, page = self.ask("/")
        named = {"/" + name for name in re.findall(r'(?:href|src)="(page/[^"]+)"', page.decode())}
        for path in list(named):
            if path.endswith(".js"):
                named |= {"/page/" + name for name in re.findall(r'from "\./([^"]+)"', self.ask(path)[2].decode())}
        return ["/", *sorted(named)]

    def test_all_is_there_under_the_limit(self):
        size = 0
        for path in self.paths():
            status, headers, body = self.ask(path)
            self.assertEqual(status, 200, path)
            self.assertNotIn("Content-Encoding", headers)
            size += len(body)
        self.assertGreater(size, 20_000)
        self.assertLess(size, MOST_BYTES)
        print(f"(the page has {size} bytes)", end=" ", flush=True)

    def test_nothing_names_another_place(self):
        for path in self.paths():
            text = self.ask(path)[2].decode().replace("http://www.w3.org/2000/svg", "")
            self.assertIsNone(re.search(r"(https?:)?//[a-z0-9]+\.[a-z]", text), path)

    def test_packed_is_the_same(self):
        for path in self.paths():
            _, plain_headers, plain = self.ask(path)
            _, headers, packed = self.ask(path, Accept_Encoding="br, gzip")
            self.assertEqual(headers["Content-Encoding"], "gzip")
            self.assertEqual(gzip.decompress(packed), plain)
            self.assertEqual(headers["ETag"], plain_headers["ETag"])
            self.assertIn("Accept-Encoding", headers["Vary"])
        self.assertNotIn("Content-Encoding", self.ask("/", Accept_Encoding="gzip;q=0.0, br")[1])
        self.assertIn("Content-Encoding", self.ask("/", Accept_Encoding="gzip;q=0.5")[1])

    def test_who_has_it_gets_nothing(self):
        _, headers, _ = self.ask("/page/page.css")
        status, again, body = self.ask("/page/page.css", If_None_Match=headers["ETag"])
        self.assertEqual((status, body, again["ETag"]), (304, b"", headers["ETag"]))
        self.assertEqual(self.ask("/page/page.css", If_None_Match='"other"')[0], 200)

    def test_policy(self):
        for path in self.paths():
            _, headers, _ = self.ask(path)
            policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
            self.assertLessEqual(POLICY.items(), policy.items(), path)
            self.assertNotIn("unsafe", headers["Content-Security-Policy"])
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Referrer-Policy"], "no-referrer")

    def test_only_read(self):
        status, _, body = self.ask("/", "HEAD")
        self.assertEqual((status, body), (200, b""))
        self.assertEqual(self.ask("/", "POST")[0], 405)
        self.assertEqual(self.ask("/page/nothing.js")[0], 404)
