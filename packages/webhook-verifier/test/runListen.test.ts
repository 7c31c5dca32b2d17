import { expect, it, vi } from "vitest"
import { type ListenFlags, runListen } from "../src/runListen.ts"

const VALID: ListenFlags = { forward: "http://127.0.0.1:9/", "api-key": "orp_test_x" }

it.each<[string, Partial<ListenFlags>, RegExp]>([
  ["no address", { forward: undefined }, /the address is missing: give --forward/],
  [
    "an address without a scheme",
    { forward: "localhost:3000" },
    /localhost:3000 is not an address.*http:\/\/localhost/,
  ],
  [
    "an address of the API without a scheme",
    { "base-url": "localhost" },
    /localhost is not an address: give --base-url/,
  ],
  ["no key", { "api-key": undefined }, /give --api-key, or set OUTREACH_KEY/],
  ["a production key", { "api-key": "orp_live_x" }, /production key/],
  ["a type that is not in the feed", { type: ["outreach.recipients_published"] }, /not in the feed/],
  ["an unknown type", { type: ["outreach.x"] }, /is not an event type.*outreach\.email_clicked/],
  ["a malformed time", { since: "noon" }, /neither ISO 8601 nor/],
])("listen refuses %s before it sends a request", async (_, flags, sentence) => {
  vi.stubEnv("OUTREACH_KEY", "")
  await expect(runListen({ ...VALID, ...flags }, ["whsec_x"])).rejects.toThrow(sentence)
})
