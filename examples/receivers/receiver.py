"""Receives webhook messages and refuses those that are not signed with SIGNING_KEY. Needs Python 3.8.
Run it with: SIGNING_KEY=... python3 receiver.py 8080"""
import hashlib
import hmac
import http.server
import json
import os
import sys

KEY = os.environ["SIGNING_KEY"].encode()


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        # The raw bytes: JSON that is decoded and encoded again has another signature.
        body = self.rfile.read(int(self.headers["Content-Length"]))
        right = hmac.new(KEY, body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(right.encode(), self.headers.get("Pay-Signature", "").encode()):
            return self.send_error(401, "Pay-Signature is missing or wrong")
        message = json.loads(body)
        print(f"{message['event_type']} of payment {message['resource_id']}", flush=True)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
