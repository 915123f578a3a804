"""Fixtures for pytest: Farthing, an account of each test, and the messages that its receiver got.

FARTHING_URL and FARTHING_API_KEY name a Farthing that runs, with FARTHING_CONTROL=true, and with the hosts of your
service and of the tests in FARTHING_RETURN_HOSTS and FARTHING_CALLBACK_HOSTS. Without them the program `farthing`, or the
one that FARTHING names, is started, with the settings below. FARTHING_RECEIVER_HOST is the host of the tests as Farthing
reaches it, if that is not 127.0.0.1.
"""
import json
import os
import secrets
import subprocess
import threading
import urllib.error
import urllib.request
from wsgiref import simple_server

import pytest
import receiver

SECONDS = 15
SECONDS_TO_START = 20
HOST = os.environ.get("FARTHING_RECEIVER_HOST", "127.0.0.1")
HOSTS = f"localhost,127.0.0.1,{HOST}"  # Over http, with any port.
GET_IT = "Set FARTHING to the path of an executable of a release, or of bin/farthing.js in a clone after npm ci."


class Client:
    def __init__(self, url, key):
        self.url, self.key = url, key

    def ask(self, method, path, body=None, expect=200):
        """Returns the JSON of the response. Any other status than expected fails the test."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        if body and body.get("authorisation_mode") == "agreement":
            headers["Idempotency-Key"] = secrets.token_hex()  # One recurring payment for each key.
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as response:
                status, text = response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read().decode()
        if status != expect:
            pytest.fail(f"{method} {request.full_url}: expected {expect}, got {status} {text}")
        return json.loads(text or "null")


@pytest.fixture(scope="session")
def farthing():
    """With the key that may make accounts."""
    if os.environ.get("FARTHING_URL"):
        yield Client(os.environ["FARTHING_URL"], os.environ["FARTHING_API_KEY"])
        return
    settings = {
        "PORT": "0",
        "HOST": "127.0.0.1",
        "DATABASE_URL": "sqlite::memory:",
        "LOG_LEVEL": "warn",
        "FARTHING_API_KEY": secrets.token_hex(),
        "FARTHING_CONTROL": "true",
        "FARTHING_CALLBACK_HOSTS": HOSTS,
        "FARTHING_RETURN_HOSTS": HOSTS,
    }
    program = os.environ.get("FARTHING", "farthing")
    try:
        started = subprocess.Popen([program], env={**os.environ, **settings}, stdout=subprocess.PIPE, text=True)
    except OSError as error:
        pytest.fail(f"{error}. {GET_IT}")
    with started as process:
        late = threading.Timer(SECONDS_TO_START, process.kill)
        late.start()
        try:
            first = process.stdout.readline()  # Farthing is listening on http://127.0.0.1:41231
            if " is listening on " not in first:
                pytest.fail(f"{program} did not start: {first}")
            late.cancel()
            yield Client(first.split()[-1], settings["FARTHING_API_KEY"])
        finally:
            late.cancel()
            process.terminate()


@pytest.fixture
def account(farthing):
    """Shares nothing with another test, and answers as GOV.UK Pay does."""
    made = farthing.ask("POST", "/control/accounts", {"behaviour": "govuk-pay"}, expect=201)
    yield Client(farthing.url, made["key"])
    farthing.ask("DELETE", f"/control/accounts/{made['account']}", expect=204)


@pytest.fixture
def received(account, tmp_path):
    """The messages, as your receiver hands them on."""
    messages = []
    address = HOST if HOST == "127.0.0.1" else "0.0.0.0"
    with simple_server.make_server(address, 0, None, receiver.Server, receiver.Handler) as server:
        url = f"http://{HOST}:{server.server_port}/"
        webhook = account.ask("POST", "/control/webhooks", {"callback_url": url}, expect=201)
        server.set_app(receiver.Receiver(webhook["signing_key"], tmp_path, messages.append))
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield messages
        server.shutdown()
