module verify

go 1.19

require github.com/standard-webhooks/standard-webhooks/libraries v0.0.1
