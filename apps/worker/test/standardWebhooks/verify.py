import sys

from standardwebhooks.webhooks import Webhook

_, secret, id, timestamp, signature = sys.argv
headers = {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature}
Webhook(secret).verify(sys.stdin.buffer.read(), headers)
