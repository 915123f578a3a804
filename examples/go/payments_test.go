// Run it with: go test -count=1 (without it Go shows an earlier result, also when Farthing is gone)
package main

import (
	"testing"
	"time"
)

var payment = object{"amount": 1450, "reference": "R-7", "description": "A licence", "return_url": "https://example.org/back"}

func expect(t *testing.T, wanted, found any) {
	t.Helper()
	if wanted != found {
		t.Fatalf("expected %v, found %v", wanted, found)
	}
}

func TestAPaymentSucceedsAndYourReceiverGetsEachMessageOnce(t *testing.T) {
	c := account(t)
	received := receive(t, c)
	id := c.ask(t, "POST", "/v1/payments", payment, 201)["payment_id"].(string)
	paid := c.ask(t, "POST", "/control/payments/"+id+"/complete", object{"scenario": "success"}, 200)
	expect(t, "success", paid["state"].(object)["status"])
	c.ask(t, "POST", "/control/clock", object{"advance": 5_000}, 200) // Then it is captured.
	// Messages come after the response, in any order.
	messages := received()
	for i := 0; i < 50 && len(messages) < 2; i++ {
		time.Sleep(100 * time.Millisecond)
		messages = received()
	}
	expect(t, 2, len(messages))
	for _, message := range messages {
		expect(t, id, message.ResourceID)
	}
}

func TestACardIsDeclined(t *testing.T) {
	c := account(t)
	id := c.ask(t, "POST", "/v1/payments", payment, 201)["payment_id"].(string)
	paid := c.ask(t, "POST", "/control/payments/"+id+"/complete", object{"scenario": "declined"}, 200)
	expect(t, "failed", paid["state"].(object)["status"])
	expect(t, "P0010", paid["state"].(object)["code"])
}

func TestAPaymentIsRefundedOnceItIsCapturedAndGoneAfter180Days(t *testing.T) {
	c := account(t)
	made := c.ask(t, "POST", "/control/payments", object{"scenario": "success", "amount": 1450}, 201)
	path := "/v1/payments/" + made["payment_id"].(string)
	wanted := object{"amount": 500, "refund_amount_available": 1450}
	expect(t, "P0603", c.ask(t, "POST", path+"/refunds", wanted, 400)["code"])
	c.ask(t, "POST", "/control/clock", object{"advance": 5_000}, 200)
	refund := c.ask(t, "POST", path+"/refunds", wanted, 202)
	expect(t, "success", c.ask(t, "GET", path+"/refunds/"+refund["refund_id"].(string), nil, 200)["status"])
	c.ask(t, "POST", "/control/clock", object{"advance": 180 * 24 * 60 * 60 * 1_000}, 200)
	expect(t, "P0200", c.ask(t, "GET", path, nil, 404)["code"])
}

func TestAPaymentWasMadeAlthoughItsAnswerWasLost(t *testing.T) {
	c := account(t)
	c.ask(t, "POST", "/control/plans", object{"on": "createPayment", "answer": object{"status": 503}}, 201)
	c.ask(t, "POST", "/v1/payments", payment, 503)
	c.ask(t, "POST", "/control/plans", object{"on": "createPayment", "when": "after", "reset": true}, 201)
	if status, text, err := c.send("POST", "/v1/payments", payment); err == nil {
		t.Fatalf("expected no answer, got %d %s", status, text)
	}
	// Search before you repeat.
	expect(t, 1.0, c.ask(t, "GET", "/v1/payments?reference=R-7", nil, 200)["total"])
}

// ended reads a recurring payment until it has ended, as your service does before it decides.
func ended(t *testing.T, c client, payment object) object {
	t.Helper()
	for i := 0; i < 50; i++ {
		state := c.ask(t, "GET", "/v1/payments/"+payment["payment_id"].(string), nil, 200)["state"].(object)
		if state["finished"] == true {
			return state
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("payment %s has not ended", payment["payment_id"])
	return nil
}

func TestARecurringPaymentIsDeclinedAndSucceedsWhenItIsTriedAgain(t *testing.T) {
	c := account(t)
	id := c.ask(t, "POST", "/v1/agreements", object{"reference": "R-7", "description": "A licence"}, 201)["agreement_id"]
	c.ask(t, "POST", "/control/payments", object{"set_up_agreement": id, "scenario": "success"}, 201)
	c.ask(t, "POST", "/control/plans", object{"given": object{"agreement_id": id}, "scenario": "declined", "can_retry": true, "hold": true}, 201)
	monthly := object{"amount": 1450, "reference": "R-7", "description": "March"}
	monthly["authorisation_mode"], monthly["agreement_id"] = "agreement", id
	first := c.ask(t, "POST", "/v1/payments", monthly, 201)
	expect(t, "created", first["state"].(object)["status"]) // As in production: the end comes later.
	c.ask(t, "POST", "/control/payments/"+first["payment_id"].(string)+"/complete", object{"scenario": "declined"}, 200)
	declined := ended(t, c, first)
	expect(t, "failed", declined["status"])
	expect(t, true, declined["can_retry"])
	again := c.ask(t, "POST", "/v1/payments", monthly, 201)
	c.ask(t, "POST", "/control/clock", object{"advance": 2000}, 200)
	expect(t, "success", ended(t, c, again)["status"])
}

// pageFor returns what your service shows when the user is back. A submitted payment is not paid: its link leads on to Confirm.
func pageFor(payment object) string {
	switch state := payment["state"].(object); {
	case state["status"] == "success":
		return "Thank you"
	case state["finished"] == true:
		return "Try again"
	default:
		return "Go on to " + payment["_links"].(object)["next_url"].(object)["href"].(string)
	}
}

func TestAUserWhoIsBackFromConfirmIsLedOnToIt(t *testing.T) {
	c := account(t)
	held := c.ask(t, "POST", "/control/payments", object{"scenario": "success", "confirm": false}, 201)
	id := held["payment_id"].(string)
	expect(t, "submitted", held["state"].(object)["status"])
	expect(t, pageFor(held), pageFor(c.ask(t, "GET", "/v1/payments/"+id, nil, 200)))
	c.ask(t, "POST", "/control/payments/"+id+"/complete", object{"scenario": "success"}, 200)
	expect(t, "Thank you", pageFor(c.ask(t, "GET", "/v1/payments/"+id, nil, 200)))
}
