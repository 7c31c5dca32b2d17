import { text } from "node:stream/consumers"
import { Webhook } from "standardwebhooks"

const [secret = "", id = "", timestamp = "", signature = ""] = process.argv.slice(2)
const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature }
new Webhook(secret).verify(await text(process.stdin), headers)
