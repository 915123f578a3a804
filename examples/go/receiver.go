// Receives the webhook messages of GOV.UK Pay, each once. Needs Go 1.18.
// Run it with: SIGNING_KEY=... go run . 8080
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

const mostBytes = 1_000_000

var messageID = regexp.MustCompile(`^[0-9a-z]{1,64}$`)

// Message is what a receiver needs of a message; its resource is the payment.
type Message struct {
	ID         string          `json:"webhook_message_id"`
	EventType  string          `json:"event_type"`
	ResourceID string          `json:"resource_id"`
	Resource   json.RawMessage `json:"resource"`
}

// Receiver is an http.Handler that calls handle with each message.
type Receiver struct {
	signingKey, folder string
	handle             func(Message) error
}

// NewReceiver fails without a signing key. The folder keeps which messages came. With several machines use a table
// with a unique column instead, in the transaction of what handle does.
func NewReceiver(signingKey, folder string, handle func(Message) error) (*Receiver, error) {
	if signingKey == "" {
		return nil, errors.New("SIGNING_KEY is not set, and without it anybody could sign messages")
	}
	if folder == "" {
		folder = "messages"
	}
	return &Receiver{signingKey, folder, handle}, os.MkdirAll(folder, 0o700)
}

// isSigned takes the request's body, byte for byte, and the header Pay-Signature.
func isSigned(body []byte, paySignature, signingKey string) bool {
	mac := hmac.New(sha256.New, []byte(signingKey))
	mac.Write(body)
	return signingKey != "" && hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(paySignature))
}

func (receiver *Receiver) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	response.WriteHeader(receiver.receive(response, request))
}

func (receiver *Receiver) receive(response http.ResponseWriter, request *http.Request) int {
	if request.Method != http.MethodPost {
		return http.StatusMethodNotAllowed
	}
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, mostBytes))
	if err != nil {
		return http.StatusRequestEntityTooLarge
	}
	if !isSigned(body, request.Header.Get("Pay-Signature"), receiver.signingKey) {
		return http.StatusUnauthorized
	}
	var message Message
	if json.Unmarshal(body, &message) != nil || !messageID.MatchString(message.ID) {
		return http.StatusBadRequest
	}
	if err := receiver.handleOnce(message); err != nil {
		log.Print(err)
		return http.StatusInternalServerError
	}
	return http.StatusOK
}

func (receiver *Receiver) handleOnce(message Message) error {
	name := filepath.Join(receiver.folder, message.ID)
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil // It came before: each message is tried more than once.
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if err := receiver.handle(message); err != nil {
		_ = os.Remove(name) // The next attempt may succeed.
		return err
	}
	return nil
}

func show(message Message) error {
	_, err := fmt.Println(message.EventType, "of payment", message.ResourceID)
	return err
}

func main() {
	receiver, err := NewReceiver(os.Getenv("SIGNING_KEY"), os.Getenv("MESSAGES"), show)
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Addr: "127.0.0.1:" + os.Args[1], Handler: receiver, ReadTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}
