package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

type object = map[string]any

type client struct{ url, key string }

// account shares nothing with another test, and answers as GOV.UK Pay does.
func account(t *testing.T) client {
	t.Helper()
	made := farthing.ask(t, "POST", "/control/accounts", object{"behaviour": "govuk-pay"}, 201)
	t.Cleanup(func() { farthing.ask(t, "DELETE", "/control/accounts/"+made["account"].(string), nil, 204) })
	return client{farthing.url, made["key"].(string)}
}

// send returns an error only without a response.
func (c client) send(method, path string, body object) (int, []byte, error) {
	var sent io.Reader
	if body != nil {
		text, _ := json.Marshal(body)
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, c.url+path, sent)
	if err != nil {
		return 0, nil, err
	}
	request.Header = http.Header{"Authorization": {"Bearer " + c.key}, "Content-Type": {"application/json"}}
	if body["authorisation_mode"] == "agreement" {
		key := make([]byte, 16)
		_, _ = rand.Read(key)
		request.Header.Set("Idempotency-Key", fmt.Sprintf("%x", key)) // One recurring payment for each key.
	}
	// Go repeats a request with such a key when a connection that it reuses is reset.
	request.Close = true
	response, err := (&http.Client{Timeout: limit}).Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, text, err
}

// ask returns the JSON of the response. Any other status than expected fails the test.
func (c client) ask(t *testing.T, method, path string, body object, expected int) object {
	t.Helper()
	status, text, err := c.send(method, path, body)
	if err != nil {
		t.Fatal(err)
	}
	if status != expected {
		t.Fatalf("%s %s: expected %d, got %d %s", method, path, expected, status, text)
	}
	found := object{}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &found); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// receive returns a function with the messages so far, as your receiver hands them on.
func receive(t *testing.T, c client) func() []Message {
	t.Helper()
	address := "127.0.0.1:0"
	if host != "127.0.0.1" {
		address = ":0"
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	webhook := c.ask(t, "POST", "/control/webhooks", object{"callback_url": "http://" + host + ":" + port}, 201)
	var lock sync.Mutex
	var messages []Message
	receiver, err := NewReceiver(webhook["signing_key"].(string), t.TempDir(), func(message Message) error {
		lock.Lock()
		defer lock.Unlock()
		messages = append(messages, message)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.Server{Listener: listener, Config: &http.Server{Handler: receiver}}
	server.Start()
	t.Cleanup(server.Close)
	return func() []Message {
		lock.Lock()
		defer lock.Unlock()
		return append([]Message{}, messages...)
	}
}
