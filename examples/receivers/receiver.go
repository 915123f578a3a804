// Receives webhook messages and refuses those that are not signed with SIGNING_KEY. Needs Go 1.18.
// Run it with: SIGNING_KEY=... go run receiver.go 8080
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
)

func isSigned(body []byte, signature string) bool {
	mac := hmac.New(sha256.New, []byte(os.Getenv("SIGNING_KEY")))
	mac.Write(body)
	return hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(signature))
}

func receive(response http.ResponseWriter, request *http.Request) {
	// The raw bytes: JSON that is decoded and encoded again has another signature.
	body, err := io.ReadAll(request.Body)
	if err != nil || !isSigned(body, request.Header.Get("Pay-Signature")) {
		http.Error(response, "Pay-Signature is missing or wrong", http.StatusUnauthorized)
		return
	}
	var message struct {
		EventType  string `json:"event_type"`
		ResourceID string `json:"resource_id"`
	}
	if err := json.Unmarshal(body, &message); err != nil {
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Println(message.EventType, "of payment", message.ResourceID)
}

func main() {
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(receive)))
}
