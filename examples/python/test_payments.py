"""Run it with: pytest (conftest.py says what it needs)"""
import time

import pytest

PAYMENT = {"amount": 1450, "reference": "R-7", "description": "A licence", "return_url": "https://example.org/back"}


def arrived(messages, number=2):
    """The event types. Messages come after the response, in any order."""
    for _ in range(50):
        if len(messages) >= number:
            return sorted(message["event_type"] for message in messages)
        time.sleep(0.1)
    pytest.fail(f"of {number} messages {len(messages)} came")


def test_a_payment_succeeds_and_your_receiver_gets_each_message_once(account, received):
    made = account.ask("POST", "/v1/payments", PAYMENT, expect=201)
    paid = account.ask("POST", f"/control/payments/{made['payment_id']}/complete", {"scenario": "success"})
    assert paid["state"]["status"] == "success"
    account.ask("POST", "/control/clock", {"advance": 5_000})  # Then it is captured.
    assert arrived(received) == ["card_payment_captured", "card_payment_succeeded"]
    assert {message["resource_id"] for message in received} == {made["payment_id"]}


def test_a_card_is_declined(account):
    made = account.ask("POST", "/v1/payments", PAYMENT, expect=201)
    paid = account.ask("POST", f"/control/payments/{made['payment_id']}/complete", {"scenario": "declined"})
    assert (paid["state"]["status"], paid["state"]["code"]) == ("failed", "P0010")


def test_a_payment_is_refunded_once_it_is_captured_and_gone_after_180_days(account):
    payment = account.ask("POST", "/control/payments", {"scenario": "success", "amount": 1450}, expect=201)
    path = f"/v1/payments/{payment['payment_id']}"
    wanted = {"amount": 500, "refund_amount_available": 1450}
    assert account.ask("POST", f"{path}/refunds", wanted, expect=400)["code"] == "P0603"
    account.ask("POST", "/control/clock", {"advance": 5_000})
    refund = account.ask("POST", f"{path}/refunds", wanted, expect=202)
    assert account.ask("GET", f"{path}/refunds/{refund['refund_id']}")["status"] == "success"
    account.ask("POST", "/control/clock", {"advance": 180 * 24 * 60 * 60 * 1_000})
    assert account.ask("GET", path, expect=404)["code"] == "P0200"


def test_a_payment_was_made_although_its_answer_was_lost(account):
    account.ask("POST", "/control/plans", {"on": "createPayment", "answer": {"status": 503}}, expect=201)
    account.ask("POST", "/v1/payments", PAYMENT, expect=503)
    account.ask("POST", "/control/plans", {"on": "createPayment", "when": "after", "reset": True}, expect=201)
    with pytest.raises(OSError):
        account.ask("POST", "/v1/payments", PAYMENT, expect=201)
    assert account.ask("GET", "/v1/payments?reference=R-7")["total"] == 1  # Search before you repeat.


def ended(account, payment):
    """Your service reads a recurring payment until it has ended, and only then decides."""
    for _ in range(50):
        state = account.ask("GET", f"/v1/payments/{payment['payment_id']}")["state"]
        if state["finished"]:
            return state
        time.sleep(0.1)
    pytest.fail(f"payment {payment['payment_id']} has not ended")


def test_a_recurring_payment_is_declined_and_succeeds_when_it_is_tried_again(account):
    agreement = account.ask("POST", "/v1/agreements", {"reference": "R-7", "description": "A licence"}, expect=201)
    given = {"agreement_id": agreement["agreement_id"]}
    set_up = {"set_up_agreement": agreement["agreement_id"], "scenario": "success"}
    account.ask("POST", "/control/payments", set_up, expect=201)
    declines = {"given": given, "scenario": "declined", "can_retry": True, "hold": True}
    account.ask("POST", "/control/plans", declines, expect=201)
    monthly = {"amount": 1450, "reference": "R-7", "description": "March", "authorisation_mode": "agreement", **given}
    first = account.ask("POST", "/v1/payments", monthly, expect=201)
    assert first["state"]["status"] == "created"  # As in production: the end comes later.
    account.ask("POST", f"/control/payments/{first['payment_id']}/complete", {"scenario": "declined"})
    declined = ended(account, first)
    assert (declined["status"], declined["can_retry"]) == ("failed", True)
    again = account.ask("POST", "/v1/payments", monthly, expect=201)
    account.ask("POST", "/control/clock", {"advance": 2000})
    assert ended(account, again)["status"] == "success"


def page_for(payment):
    """What your service shows when the user is back. A submitted payment is not paid: its link leads on to Confirm."""
    state = payment["state"]
    if state["status"] == "success":
        return "Thank you"
    return "Try again" if state["finished"] else f"Go on to {payment['_links']['next_url']['href']}"


def test_a_user_who_is_back_from_confirm_is_led_on_to_it(account):
    held = account.ask("POST", "/control/payments", {"scenario": "success", "confirm": False}, expect=201)
    path = f"/v1/payments/{held['payment_id']}"
    assert held["state"]["status"] == "submitted"
    assert page_for(account.ask("GET", path)) == f"Go on to {held['_links']['next_url']['href']}"
    account.ask("POST", f"/control/payments/{held['payment_id']}/complete", {"scenario": "success"})
    assert page_for(account.ask("GET", path)) == "Thank you"
