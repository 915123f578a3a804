// Sends the same POST twice, and prints `reset` or the status for each.
package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
)

func main() {
	for i := 0; i < 2; i++ {
		request, _ := http.NewRequest("POST", os.Getenv("FARTHING_URL")+"/v1/payments", strings.NewReader(os.Getenv("BODY")))
		request.Header.Set("Authorization", "Bearer "+os.Getenv("FARTHING_API_KEY"))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", "go")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			fmt.Println("reset")
			continue
		}
		answer.Body.Close()
		fmt.Println(answer.StatusCode)
	}
}
