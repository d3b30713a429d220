"""TLS, client certificates and passwords: each authentication method, and the errors of each failure."""
import base64
import json
import os
import re
import subprocess
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer

from fixtures import numbered
from harness import EVENKEEL, Daemon, evenkeel, eventually

WORLD = None  # set by run.py
COUNT = 20
KEY_PASSWORD = "key-pw"  # as in certificates.sh


def secure():
    return WORLD.other("secure", nodes=1, secure=True)


def keep(name, text, mode=0o600):
    """Write a file with the permissions of /run/secrets. Return its path."""
    path = WORLD.path(name)
    with open(path, "w") as out:
        out.write(text)
    os.chmod(path, mode)
    return path


def password(user, text=None):
    return "${file:%s}" % keep(f"{user}-{hash(text)}.secret", (text or secure().PASSWORDS[user]) + "\n")


def sasl(mechanism, user="alice", text=None, ca="ca", tls=True):
    more = {"security.protocol": "sasl_ssl" if tls else "sasl_plaintext", "sasl.mechanism": mechanism,
            "sasl.username": user, "sasl.password": password(user, text)}
    return {**more, **trust(ca)} if tls else more


def trust(ca="ca"):
    return {"ssl.ca.location": f"{secure().tls}/{ca}.pem"}


def certificate(name="client", ca="ca"):
    return {"security.protocol": "ssl", **trust(ca), "ssl.certificate.location": f"{secure().tls}/{name}.crt",
            "ssl.key.location": f"{secure().tls}/{name}.key"}


def protected():
    """Return a client key with a password."""
    return {**certificate(), "ssl.key.location": f"{secure().tls}/client-protected.key",
            "ssl.key.password": "${file:%s}" % keep("key.secret", KEY_PASSWORD)}


def pem():
    """Return key and certificates as strings, the key from a file."""
    with open(f"{secure().tls}/client.crt") as crt, open(f"{secure().tls}/ca.pem") as ca:
        return {"security.protocol": "ssl", "ssl.ca.pem": ca.read(), "ssl.certificate.pem": crt.read(),
                "ssl.key.pem": "${file:%s/client.key}" % secure().tls}


def yaml(properties):
    return ", ".join("%s: \"%s\"" % (k, v.replace("\n", "\\n")) for k, v in properties.items())


def secrets():
    """Return all secrets."""
    with open(f"{secure().tls}/client.key") as file:
        key = file.read().splitlines()[1]
    return [*secure().PASSWORDS.values(), "wrong-Pw.0001", key, '"' + KEY_PASSWORD]


def daemon(source, target, listener, properties, **more):
    return Daemon(WORLD.folder, secure(), source, target, WORLD.folder, brokers=secure().at(listener),
                  more=yaml(properties), **more)


class Secure(unittest.TestCase):
    NEEDS = "secure"

    def assert_kept(self, d, *texts):
        """Check that no secret is in the log, on a page, or in printed configurations."""
        printed = [subprocess.run([EVENKEEL, *words, d.config], capture_output=True, text=True, check=False)
                   for words in (("run", "--print-config", "-c"), ("check",))]
        self.assertEqual([p.returncode for p in printed], [0, 0], printed)
        for text in [d.log(), *texts, *(p.stdout + p.stderr for p in printed)]:
            for secret in secrets():
                self.assertNotIn(secret, text)

    def pages(self, d):
        return [d.get(p)[1] for p in ("/ready", "/metrics", "/version", "/api/v1/status", "/api/v1/events")]


class TheWaysIn(Secure):
    """All methods in parallel, each with full logging."""

    WAYS = {"plain": ("sasl_plaintext", lambda: sasl("PLAIN", "bob", tls=False)),
            "plain-tls": ("sasl_ssl", lambda: sasl("PLAIN")),
            "scram-256": ("sasl_ssl", lambda: sasl("SCRAM-SHA-256")),
            "scram-512": ("sasl_ssl", lambda: sasl("SCRAM-SHA-512")),
            "certificate": ("ssl", certificate),
            "protected-key": ("ssl", protected),
            "pem": ("ssl", pem)}

    def grant(self, users, source, target):
        for user in users:
            secure().allow(user, f"Read topic {source}", f"Write topic {target}", f"Write topic {target}.dead",
                           *(f"Read group {way}" for way in self.WAYS))

    def test_are_all_open_to_who_has_the_right_key(self):
        source, target = WORLD.topics(broker=secure())
        self.grant(("alice", "bob", "CN=client"), source, target)
        WORLD.send(source, numbered(WORLD.hotel(COUNT)), broker=secure())
        running = {way: daemon(source, target, listener, properties() | {"debug": "all"}, group=way,
                               log="level: debug")
                   for way, (listener, properties) in self.WAYS.items()}
        try:
            for d in running.values():
                d.start()
            for way, d in running.items():
                with self.subTest(way):
                    d.wait_ready().wait_handled(COUNT)
                    pages = self.pages(d)
                    self.assertEqual(d.stop(), 0, d.log())
                    self.assert_kept(d, *pages)
        finally:
            for d in running.values():
                d.__exit__()
        self.assertEqual(len(WORLD.read(target, broker=secure())), COUNT * len(running))


class AChangedPassword(Secure):
    """A password file that is replaced while the stage runs."""

    def test_is_read_after_a_rejected_login(self):
        source, target = WORLD.topics(broker=secure())
        secure().allow("alice", f"Read topic {source}", f"Write topic {target}", f"Write topic {target}.dead", "Read group changed")
        WORLD.send(source, numbered(WORLD.hotel(COUNT)), broker=secure())
        path = keep("changed.secret", "wrong-Pw.0001\n")
        properties = sasl("SCRAM-SHA-256") | {"sasl.password": "${file:%s}" % path}
        with daemon(source, target, "sasl_ssl", properties, group="changed") as d:
            eventually("the login is rejected", lambda: "_AUTHENTICATION, producer" in d.log())
            self.assertNotEqual(d.get("/ready")[0], 200)
            keep("changed.secret", secure().PASSWORDS["alice"] + "\n")
            d.wait_ready().wait_handled(COUNT)
            self.assertEqual(d.stop(), 0, d.log())
            self.assert_kept(d)


class Tokens(BaseHTTPRequestHandler):
    """Token endpoint of an OpenID provider, whose tokens are not signed."""

    def log_message(self, *words):
        pass

    def do_POST(self):
        form = self.rfile.read(int(self.headers["Content-Length"])).decode()
        login = base64.b64decode(self.headers["Authorization"].split()[1]).decode()
        self.server.requests.append((form, login, self.headers["Content-Type"]))
        claims = {"sub": "alice", "iat": time.time(), "exp": time.time() + 60}
        parts = [base64.urlsafe_b64encode(json.dumps(p).encode()).decode().rstrip("=") for p in ({"alg": "none"}, claims)]
        known = login == f"evenkeel:{self.server.secret}"
        self.server.answers.append(known)
        answer = {"access_token": ".".join(parts) + ".", "expires_in": 3} if known else {"error": "invalid_client"}
        body = json.dumps(answer).encode()
        self.send_response(200 if known else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Container(BaseHTTPRequestHandler):
    """Endpoint of a container in AWS, whose credentials expire soon."""

    def log_message(self, *words):
        pass

    def do_GET(self):
        self.server.requests.append((self.path, self.headers["Authorization"]))
        expires = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 4))
        body = json.dumps({"AccessKeyId": AWS["AWS_ACCESS_KEY_ID"], "SecretAccessKey": AWS["AWS_SECRET_ACCESS_KEY"],
                           "Token": "a session/+", "Expiration": expires}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Bearer(Secure):
    """Access tokens, with a server on loopback."""
    HANDLER = None

    def setUp(self):
        self.server = HTTPServer(("127.0.0.1", 0), self.HANDLER)
        self.server.requests, self.server.answers, self.server.secret = [], [], "oidc-secret.4711"
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.source, self.target = WORLD.topics(broker=secure())

    def grant(self, group):
        secure().allow("alice", f"Read topic {self.source}", f"Write topic {self.target}", f"Write topic {self.target}.dead", f"Read group {group}")
        WORLD.send(self.source, numbered(WORLD.hotel(COUNT)), broker=secure())

    def assert_renewed(self, d, *hidden):
        """Check that all lists pass and that tokens are renewed."""
        d.wait_ready().wait_handled(COUNT)
        first = len(self.server.requests)
        eventually("tokens are renewed", lambda: len(self.server.requests) >= 2 * first)
        self.assertEqual(d.stop(), 0, d.log())
        self.assert_kept(d)
        for text in hidden:
            self.assertNotIn(text, d.log())


class OpenId(Bearer):
    """Access tokens of the client credentials grant."""
    HANDLER = Tokens

    def properties(self, **other):
        values = {"method": "oidc", "client.id": "evenkeel", "client.secret": "${file:%s}" % keep("oidc.secret", "oidc-secret.4711\n"),
                  "scope": "kafka read", "token.endpoint.url": f"http://127.0.0.1:{self.server.server_port}/token"} | other
        return {"security.protocol": "sasl_plaintext", "sasl.mechanism": "OAUTHBEARER",
                **{f"sasl.oauthbearer.{k}": v for k, v in values.items()}}

    def test_tokens_are_fetched_and_renewed(self):
        self.grant("oidc")
        with daemon(self.source, self.target, "sasl_plaintext", self.properties() | {"debug": "security,conf"}, group="oidc",
                    log="level: debug") as d:
            self.assert_renewed(d, "oidc-secret.4711")
        self.assertEqual(set(self.server.requests), {("grant_type=client_credentials&scope=kafka%20read", "evenkeel:oidc-secret.4711",
                                                      "application/x-www-form-urlencoded")})

    def test_a_changed_client_secret_is_read(self):
        self.grant("oidc-changed")
        with daemon(self.source, self.target, "sasl_plaintext", self.properties(), group="oidc-changed") as d:
            d.wait_ready().wait_handled(COUNT)
            keep("oidc.secret", "oidc-secret.4712\n")
            self.server.secret = "oidc-secret.4712"
            known = self.server.answers.count(True)
            eventually("tokens are renewed", lambda: self.server.answers.count(True) >= known + 3)
            self.assertEqual(d.stop(), 0, d.log())
            self.assert_kept(d)

    def test_a_refused_client_is_named(self):
        with daemon(self.source, self.target, "sasl_plaintext", self.properties(**{"client.id": "other"}), group="oidc-other") as d:
            eventually("the reason is logged", lambda: "invalid_client" in d.log())
            self.assertRegex(d.log(), r"wrong credentials: check the properties sasl\.oauthbearer\.\*: .*no token from the token endpoint: status 401, invalid_client")

    def test_missing_and_unknown_settings_are_named(self):
        for other, text in (({"client.id": ""}, "librdkafka property 'sasl.oauthbearer.method' is oidc: set 'sasl.oauthbearer.client.id'"),
                            ({"method": "saml"}, "librdkafka property 'sasl.oauthbearer.method' is 'saml', expected oidc or aws_msk_iam"),
                            ({"token.endpoint.url": "idp/token"}, "librdkafka property 'sasl.oauthbearer.token.endpoint.url' must start with https:// or http://")):
            d = daemon(self.source, self.target, "sasl_plaintext", self.properties(**other))
            checked = subprocess.run([EVENKEEL, "check", d.config], capture_output=True, text=True, check=False)
            self.assertEqual(checked.returncode, 78, checked.stdout)
            self.assertIn(text, checked.stdout + checked.stderr)


# Keys of alice in AwsTokens.java.
AWS = {"AWS_ACCESS_KEY_ID": "AKIDALICE", "AWS_SECRET_ACCESS_KEY": "aws+secret/Pw.2206"}


class AmazonMsk(Bearer):
    """Access tokens signed by keys of AWS."""
    HANDLER = Container

    def daemon(self, group, environment, **other):
        d = daemon(self.source, self.target, "sasl_plaintext",
                   {"security.protocol": "sasl_plaintext", "sasl.mechanism": "OAUTHBEARER",
                    "sasl.oauthbearer.method": "aws_msk_iam", "debug": "security,conf", **other}, group=group, log="level: debug")
        others = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        d.environment = others | {"HOME": "/nowhere"} | environment
        return d

    def test_keys_of_the_environment_log_in(self):
        self.grant("aws")
        with self.daemon("aws", AWS | {"AWS_REGION": "eu-central-1"}) as d:
            d.wait_ready().wait_handled(COUNT)
            self.assertEqual(d.stop(), 0, d.log())
            self.assertNotIn(AWS["AWS_SECRET_ACCESS_KEY"], d.log())
            self.assertNotIn("X-Amz", d.log())
        self.assertEqual(self.server.requests, [])

    def test_keys_of_a_container_log_in_and_are_renewed(self):
        self.grant("aws-container")
        endpoint = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": f"http://127.0.0.1:{self.server.server_port}/v1/credentials",
                    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": keep("container.token", "container-Pw.0815\n")}
        with self.daemon("aws-container", endpoint, **{"sasl.oauthbearer.aws.region": "us-east-1"}) as d:
            self.assert_renewed(d, AWS["AWS_SECRET_ACCESS_KEY"], "container-Pw.0815", "a session/+")
        self.assertEqual(set(self.server.requests), {("/v1/credentials", "container-Pw.0815")})

    def test_wrong_and_missing_keys_are_named(self):
        wrong = {"AWS_ACCESS_KEY_ID": "AKIDALICE", "AWS_SECRET_ACCESS_KEY": "wrong-Pw.0001", "AWS_REGION": "eu-central-1"}
        for group, environment, text in (("wrong", wrong, "signature"), ("none", {"AWS_REGION": "eu-central-1"}, "no AWS credentials: set AWS_ACCESS_KEY_ID")):
            with self.daemon("aws-" + group, environment) as d:
                eventually("the reason is logged", lambda: "wrong credentials" in d.log())
                self.assertRegex(d.log(), r"wrong credentials: check the properties sasl\.oauthbearer\.\*: .*" + text)

    def test_missing_and_invalid_regions_are_named(self):
        for region, text in (({}, "librdkafka property 'sasl.oauthbearer.method' is aws_msk_iam: set 'sasl.oauthbearer.aws.region' or the environment variable AWS_REGION"),
                             ({"AWS_DEFAULT_REGION": "a.example.com/"}, "the AWS region 'a.example.com/' is invalid")):
            d = self.daemon("aws-region", AWS | region)
            checked = subprocess.run([EVENKEEL, "check", d.config], capture_output=True, text=True, check=False, env=d.environment)
            self.assertEqual(checked.returncode, 78, checked.stdout)
            self.assertIn(text, checked.stdout + checked.stderr)


class TheWaysThatStayShut(Secure):
    """For each failure: the error message, the code in /ready, and the metric."""

    USER = "wrong credentials: the broker refuses user 'alice' (%s): check sasl.username and sasl.password"
    WAYS = {
        "plain": ("sasl_plaintext", lambda: sasl("PLAIN", "alice", "wrong-Pw.0001", tls=False), "credentials",
                  USER % "PLAIN"),
        "scram-256": ("sasl_ssl", lambda: sasl("SCRAM-SHA-256", "alice", "wrong-Pw.0001"), "credentials",
                      USER % "SCRAM-SHA-256"),
        "scram-512": ("sasl_ssl", lambda: sasl("SCRAM-SHA-512", "alice", "wrong-Pw.0001"), "credentials",
                      USER % "SCRAM-SHA-512"),
        "mechanism": ("sasl_ssl", lambda: sasl("OAUTHBEARER") | {"enable.sasl.oauthbearer.unsecure.jwt": "true",
                                                                 "sasl.oauthbearer.config": "principal=x"},
                      "credentials", "wrong credentials: the broker does not take SASL mechanism 'OAUTHBEARER'"),
        "authority": ("sasl_ssl", lambda: sasl("PLAIN", ca="other-ca"), "tls",
                      "TLS: the broker's certificate is not signed by an authority we know: check ssl.ca.location"),
        "no-certificate": ("ssl", lambda: {"security.protocol": "ssl", **trust()}, "tls",
                           "TLS: the broker requires a client certificate: check ssl.certificate.location"),
        "stranger": ("ssl", lambda: certificate("stranger"), "tls",
                     "TLS: the broker refuses our client certificate"),
        "expired-client": ("ssl", lambda: certificate("expired-client"), "tls",
                           "TLS: the broker refuses our client certificate"),
        "host": ("elsewhere", lambda: {"security.protocol": "ssl", **trust()}, "tls",
                 "TLS: the broker's certificate is for another"),
        "expired": ("expired", lambda: {"security.protocol": "ssl", **trust()}, "tls",
                    "TLS: the broker's certificate has expired"),
        "no-tls": ("sasl_plaintext", lambda: sasl("PLAIN"), "tls",
                   "TLS: the connection ends while it is made: the broker may not speak TLS there"),
    }

    def named(self, d, word, sentence):
        """Return whether log, /ready and metrics contain the reason."""
        if d.process.poll() is not None:
            raise AssertionError(f"'{sentence}' was not told in time:\n{d.log()}")
        status, text = d.get("/ready")
        metric = f'evenkeel_kafka_errors_total{{class="{word}"}} [1-9]'
        return (status == 503 and f'"reason":"{word}","message":"{sentence}' in text and
                sentence in d.log() and re.search(metric, d.get("/metrics")[1]))

    def assert_named(self, running):
        """Check all reasons. The programs stop when their status is stable, so all are queried before any result is
        checked."""
        waiting, told = dict(running), []

        def all_named():
            for way, ways in running.items():
                if way in waiting and self.named(*ways):
                    del waiting[way]
                    told.append((ways[0], self.pages(ways[0])))
            return not waiting
        try:
            eventually("the reasons are told", all_named)
        except AssertionError as error:
            raise AssertionError("\n".join([str(error)] + [f"{way}: {ways[0].get('/ready')}"
                                            for way, ways in waiting.items()])) from error
        for d, pages in told:
            self.assert_kept(d, *pages)

    def test_say_why(self):
        source, target = WORLD.topics(broker=secure())
        running = {way: (daemon(source, target, listener, properties(), group=way), word, sentence)
                   for way, (listener, properties, word, sentence) in self.WAYS.items()}
        try:
            for d, _, _ in running.values():
                d.start()
            self.assert_named(running)
            for way, (d, _, sentence) in running.items():
                with self.subTest(way):
                    self.assertEqual(d.wait_end(), 1)
                    self.assertIn(sentence, d.last_words())
        finally:
            for d, _, _ in running.values():
                d.__exit__()


class ASecureCapture(Secure):
    """`capture` with TLS."""

    def capture(self, *words, status=0):
        path = WORLD.path("secure.capture")
        said = evenkeel("capture", "--topic", self.source, "--until-end", "-o", path, *words, status=status)[1]
        for secret in secrets():
            self.assertNotIn(secret, said)
        return said

    def setUp(self):
        self.source, self.target = WORLD.topics(broker=secure())
        secure().allow("alice", f"Read topic {self.source}")
        WORLD.send(self.source, numbered(WORLD.hotel(COUNT)), broker=secure())

    @staticmethod
    def options(properties):
        return [f"-X{name}={value}" for name, value in properties.items()]

    def test_takes_properties_or_the_configuration_of_the_stage(self):
        at = ["--brokers", secure().at("sasl_ssl")]
        self.assertIn(f"{COUNT} messages", self.capture(*at, *self.options(sasl("SCRAM-SHA-512"))))
        d = daemon(self.source, self.target, "sasl_ssl", sasl("PLAIN"))
        self.assertIn(f"{COUNT} messages", self.capture("--config", d.config))

    def test_says_why_it_was_not_let_in(self):
        at = ["--brokers", secure().at("sasl_ssl")]
        wrong = sasl("PLAIN", "alice", "wrong-Pw.0001")
        self.assertIn("the broker refuses user 'alice' (PLAIN)", self.capture(*at, *self.options(wrong), status=1))
        untrusted = sasl("PLAIN", ca="other-ca")
        self.assertIn("not signed by an authority we know", self.capture(*at, *self.options(untrusted), status=1))
        other = sasl("PLAIN", "bob")
        self.assertIn(f"user 'bob' needs Read on topic '{self.source}'",
                      self.capture(*at, *self.options(other), status=1))
        self.assertIn("'input.librdkafka' must be name=value", self.capture(*at, "-Xwrong-Pw.0001", status=78))
