"""Needs Python 3.8 and a Farthing that was started with FARTHING_CONTROL=true and FARTHING_CALLBACK_HOSTS=127.0.0.1.
Reads FARTHING_URL and FARTHING_API_KEY. Run it with: python3 -m unittest test_payments.py"""
import hashlib
import hmac
import http.server
import json
import os
import threading
import unittest
import urllib.error
import urllib.request

URL, PARENT_KEY = os.environ["FARTHING_URL"], os.environ["FARTHING_API_KEY"]
PAYMENT = {"amount": 1450, "reference": "R-7", "description": "A licence", "return_url": "https://example.org/back"}


def ask(key, method, path, body=None):
    """Returns the status and the JSON of the response, also of an error."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(URL + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.loads(response.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


class PaymentsTest(unittest.TestCase):
    def setUp(self):
        _, account = ask(PARENT_KEY, "POST", "/control/accounts")
        self.key = account["key"]
        self.addCleanup(ask, PARENT_KEY, "DELETE", f"/control/accounts/{account['account']}")

    def test_a_webhook_is_signed_over_its_raw_bytes(self):
        received = []

        class Receiver(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received.append((body, self.headers["Pay-Signature"]))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        with http.server.HTTPServer(("127.0.0.1", 0), Receiver) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            address = f"http://127.0.0.1:{server.server_port}/"
            _, webhook = ask(self.key, "POST", "/v1/webhooks", {"callback_url": address, "subscriptions": ["card_payment_succeeded"]})
            _, payment = ask(self.key, "POST", "/v1/payments", PAYMENT)
            _, payment = ask(self.key, "POST", f"/control/payments/{payment['payment_id']}/complete", {"scenario": "success"})
            server.shutdown()  # The response came after the delivery.
        self.assertEqual(payment["state"]["status"], "success")
        [(body, signature)] = received
        right = hmac.new(webhook["signing_key"].encode(), body, hashlib.sha256).hexdigest()
        self.assertTrue(hmac.compare_digest(right, signature))
        self.assertEqual(json.loads(body)["resource_id"], payment["payment_id"])

    def test_a_refund_succeeds_after_5_seconds_and_a_payment_is_gone_after_7_days(self):
        _, payment = ask(self.key, "POST", "/control/payments", {"scenario": "success", "amount": 1450})
        path = f"/v1/payments/{payment['payment_id']}"
        status, refund = ask(self.key, "POST", f"{path}/refunds", {"amount": 500, "refund_amount_available": 1450})
        self.assertEqual((status, refund["status"]), (202, "submitted"))
        ask(self.key, "POST", "/control/clock", {"advance": 5_000})
        self.assertEqual(ask(self.key, "GET", f"{path}/refunds/{refund['refund_id']}")[1]["status"], "success")
        ask(self.key, "POST", "/control/clock", {"advance": 7 * 24 * 60 * 60 * 1_000})
        status, error = ask(self.key, "GET", path)
        self.assertEqual((status, error["code"]), (404, "P0200"))

    def test_a_503_and_a_lost_answer_can_be_planned(self):
        ask(self.key, "POST", "/control/plans", {"on": "createPayment", "answer": {"status": 503}})
        self.assertEqual(ask(self.key, "POST", "/v1/payments", PAYMENT)[0], 503)
        ask(self.key, "POST", "/control/plans", {"on": "createPayment", "when": "after", "reset": True})
        with self.assertRaises(OSError):
            ask(self.key, "POST", "/v1/payments", PAYMENT)
        _, found = ask(self.key, "GET", "/v1/payments?reference=R-7")
        self.assertEqual(found["total"], 1)  # It was made: search before you repeat.
