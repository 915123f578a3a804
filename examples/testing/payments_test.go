// Needs Go 1.18, and FARTHING_URL and FARTHING_API_KEY of a Farthing with FARTHING_CONTROL=true and FARTHING_CALLBACK_HOSTS=127.0.0.1. Run: go test payments_test.go
package payments

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
)

type object = map[string]any

var payment = object{"amount": 1450, "reference": "R-7", "description": "A licence", "return_url": "https://example.org/back"}

// Returns the status and the JSON of any response; status 0 without one.
func ask(key, method, path string, body any) (int, object) {
	sent, _ := json.Marshal(body)
	request, _ := http.NewRequest(method, os.Getenv("FARTHING_URL")+path, bytes.NewReader(sent))
	request.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
	response, err := http.DefaultClient.Do(request)
	found := object{}
	if err != nil {
		return 0, found
	}
	json.NewDecoder(response.Body).Decode(&found)
	return response.StatusCode, found
}

func expect(t *testing.T, wanted, found any) {
	if t.Helper(); wanted != found {
		t.Fatalf("expected %v, found %v", wanted, found)
	}
}

func TestPayments(t *testing.T) {
	_, account := ask(os.Getenv("FARTHING_API_KEY"), "POST", "/control/accounts", object{})
	defer ask(os.Getenv("FARTHING_API_KEY"), "DELETE", "/control/accounts/"+account["account"].(string), object{})
	key, received := account["key"].(string), make(chan []byte, 2)

	// A webhook is signed over its raw bytes.
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		received <- body
		received <- []byte(request.Header.Get("Pay-Signature"))
	}))
	_, webhook := ask(key, "POST", "/v1/webhooks", object{"callback_url": receiver.URL, "subscriptions": []string{"card_payment_succeeded"}})
	_, made := ask(key, "POST", "/v1/payments", payment)
	_, paid := ask(key, "POST", "/control/payments/"+made["payment_id"].(string)+"/complete", object{"scenario": "success"})
	expect(t, "success", paid["state"].(object)["status"])
	mac := hmac.New(sha256.New, []byte(webhook["signing_key"].(string)))
	mac.Write(<-received) // The response came after the delivery.
	expect(t, true, hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), <-received))

	// A refund succeeds after 5 seconds, and a payment is gone after 7 days.
	path := "/v1/payments/" + made["payment_id"].(string)
	_, refund := ask(key, "POST", path+"/refunds", object{"amount": 500, "refund_amount_available": 1450})
	expect(t, "submitted", refund["status"])
	ask(key, "POST", "/control/clock", object{"advance": 5_000})
	_, refund = ask(key, "GET", path+"/refunds/"+refund["refund_id"].(string), object{})
	expect(t, "success", refund["status"])
	ask(key, "POST", "/control/clock", object{"advance": 7 * 24 * 60 * 60 * 1_000})
	_, gone := ask(key, "GET", path, object{})
	expect(t, "P0200", gone["code"])

	// A 503 and a lost answer can be planned.
	ask(key, "POST", "/control/plans", object{"on": "createPayment", "answer": object{"status": 503}})
	status, _ := ask(key, "POST", "/v1/payments", payment)
	expect(t, 503, status)
	ask(key, "POST", "/control/plans", object{"on": "createPayment", "when": "after", "reset": true})
	status, _ = ask(key, "POST", "/v1/payments", payment)
	expect(t, 0, status)
	_, found := ask(key, "GET", "/v1/payments?reference=R-7", object{})
	expect(t, 1.0, found["total"]) // It was made: search before you repeat.
}
