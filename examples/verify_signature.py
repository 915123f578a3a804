"""Reads the body of a webhook message on standard input; exits with 0 when it is signed, else 1:

    python3 verify_signature.py PAY_SIGNATURE SIGNING_KEY < body
"""
import hashlib
import hmac
import sys


def is_signed(body: bytes, pay_signature: str, signing_key: str) -> bool:
    """True when the body, byte for byte as it arrived, came from who holds the signing_key."""
    expected = hmac.new(signing_key.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), pay_signature.encode())


if __name__ == "__main__":
    sys.exit(0 if is_signed(sys.stdin.buffer.read(), sys.argv[1], sys.argv[2]) else 1)
