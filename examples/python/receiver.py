"""Receives the webhook messages of GOV.UK Pay, each once. A WSGI application for Python 3.8 or newer:

    SIGNING_KEY=... gunicorn 'receiver:create()'
    SIGNING_KEY=... python3 receiver.py 8080
"""
import hashlib
import hmac
import json
import os
import re
import socketserver
import sys
from pathlib import Path
from wsgiref import simple_server

MOST_BYTES = 1_000_000


def is_signed(body: bytes, pay_signature: str, signing_key: str) -> bool:
    """True if the sender has the signing_key. `body` is the request's body, byte for byte."""
    expected = hmac.new(signing_key.encode(), body, hashlib.sha256).hexdigest()
    return signing_key != "" and hmac.compare_digest(expected.encode(), pay_signature.encode())


def read_body(environ) -> bytes:
    """Reads one byte more than is allowed, at most. Raises ValueError if the body has no length."""
    stream = environ["wsgi.input"]
    if environ.get("wsgi.input_terminated"):  # gunicorn decodes chunks itself
        return stream.read(MOST_BYTES + 1)
    if environ.get("HTTP_TRANSFER_ENCODING", "").lower() != "chunked":
        return stream.read(min(int(environ.get("CONTENT_LENGTH") or 0), MOST_BYTES + 1))
    body = b""
    while len(body) <= MOST_BYTES:
        size = int(stream.readline(100).split(b";")[0], 16)
        if size == 0:
            return body
        body += stream.read(min(size, MOST_BYTES + 1))
        stream.readline(100)
    return body


class Receiver:
    """Calls `handle` with each message. `folder` keeps which messages came. With several machines use a table with a
    unique column instead, in the transaction of what `handle` does."""

    def __init__(self, signing_key: str, folder: Path, handle):
        if not signing_key:
            raise ValueError("SIGNING_KEY is not set, and without it anybody could sign messages")
        self.signing_key, self.folder, self.handle = signing_key, Path(folder), handle
        self.folder.mkdir(parents=True, exist_ok=True)

    def __call__(self, environ, start_response):
        start_response(self.receive(environ), [("Content-Length", "0")])
        return [b""]

    def receive(self, environ) -> str:
        if environ["REQUEST_METHOD"] != "POST":
            return "405 Method Not Allowed"
        try:
            body = read_body(environ)
        except ValueError:
            return "400 Bad Request"
        if len(body) > MOST_BYTES:
            return "413 Content Too Large"
        if not is_signed(body, environ.get("HTTP_PAY_SIGNATURE", ""), self.signing_key):
            return "401 Unauthorized"
        try:
            message = json.loads(body)
            name = re.fullmatch(r"[0-9a-z]{1,64}", message["webhook_message_id"]).group()
        except (ValueError, KeyError, TypeError, AttributeError):
            return "400 Bad Request"
        try:
            (self.folder / name).touch(exist_ok=False)
        except FileExistsError:
            return "200 OK"  # It came before: each message is tried more than once.
        try:
            self.handle(message)
        except BaseException:
            (self.folder / name).unlink()  # The next attempt may succeed.
            raise
        return "200 OK"


def show(message):
    print(f"{message['event_type']} of payment {message['resource_id']}", flush=True)


def create():
    return Receiver(os.environ.get("SIGNING_KEY", ""), os.environ.get("MESSAGES", "messages"), show)


class Server(socketserver.ThreadingMixIn, simple_server.WSGIServer):
    daemon_threads = True


class Handler(simple_server.WSGIRequestHandler):
    timeout = 10  # seconds for the bytes of a request

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    try:
        application = create()
    except ValueError as error:
        sys.exit(str(error))
    simple_server.make_server("127.0.0.1", int(sys.argv[1]), application, Server, Handler).serve_forever()
