"""Reads the body of a webhook message on standard input. Exits with 0 if the signature is right, else with 1:

    python3 verify_signature.py PAY_SIGNATURE SIGNING_KEY < body
"""
import hashlib
import hmac
import sys


def is_signed(body: bytes, pay_signature: str, signing_key: str) -> bool:
    """True if the sender has the signing_key. `body` is the request's body, byte for byte."""
    expected = hmac.new(signing_key.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), pay_signature.encode())


if __name__ == "__main__":
    sys.exit(0 if is_signed(sys.stdin.buffer.read(), sys.argv[1], sys.argv[2]) else 1)
