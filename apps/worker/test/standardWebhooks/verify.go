package main

import (
	"io"
	"log"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	webhook, err := standardwebhooks.NewWebhook(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	headers := http.Header{}
	for i, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		headers.Set(name, os.Args[i+2])
	}
	if err := webhook.Verify(body, headers); err != nil {
		log.Fatal(err)
	}
}
