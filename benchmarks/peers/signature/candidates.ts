import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from "node:crypto"
import * as octokit from "@octokit/webhooks-methods"
import * as web from "@outreach/signature"
import * as node from "@outreach/signature/node"
import { Webhook as StandardWebhook } from "standardwebhooks"
import Stripe from "stripe"
import { Webhook as SvixWebhook } from "svix"

type Body = string | Buffer

/** A library that signs and verifies. `verify` throws for an invalid signature. */
export interface Candidate {
  readonly name: string
  readonly sign: (body: Body) => string | Promise<string>
  readonly verify: (header: string, body: Body) => unknown
}

const SECRET = `whsec_${randomBytes(32).toString("base64")}`
const TIMESTAMP = Math.floor(Date.now() / 1000)
const NOW = { now: TIMESTAMP }
const signing = { timestamp: TIMESTAMP }
const secrets = [SECRET]
const key = createSecretKey(SECRET, "utf8")

const digest = (body: Body): string => createHmac("sha256", key).update(`${TIMESTAMP}.`).update(body).digest("hex")

const ID = "msg_2b1f0c"
const standard = new StandardWebhook(SECRET)
const svix = new SvixWebhook(SECRET)
const headersOf = (signature: string) => ({
  "webhook-id": ID,
  "webhook-timestamp": String(TIMESTAMP),
  "webhook-signature": signature,
})
const at = new Date(TIMESTAMP * 1000)

/** Our packages and their alternatives. Each does as much of the work as its library offers, and doesn't parse JSON. */
export const candidates: readonly Candidate[] = [
  {
    name: "ours, synchronous",
    sign: (body) => node.sign(body, secrets, signing),
    verify: (header, body) => node.verify(header, body, secrets, NOW),
  },
  {
    name: "ours, Web Crypto",
    sign: (body) => web.sign(body, secrets, signing),
    verify: (header, body) => web.verify(header, body, secrets, NOW),
  },
  {
    // The lower bound: no header, no clock, no validation of the body.
    name: "bare HMAC",
    sign: digest,
    verify: (header, body) => {
      if (!timingSafeEqual(Buffer.from(digest(body)), Buffer.from(header))) throw new Error("no match")
    },
  },
  {
    name: "stripe",
    sign: (payload) =>
      Stripe.webhooks.generateTestHeaderString({ payload: payload.toString(), secret: SECRET, timestamp: TIMESTAMP }),
    verify: (header, body) => Stripe.webhooks.signature!.verifyHeader(body, header, SECRET, 300),
  },
  {
    name: "svix",
    sign: (body) => svix.sign(ID, at, body),
    verify: (header, body) => svix.verify(body, headersOf(header)),
  },
  {
    name: "standardwebhooks",
    sign: (body) => standard.sign(ID, at, body),
    verify: (header, body) => standard.verify(body, headersOf(header), { jsonParse: false }),
  },
  {
    // Accepts only text, and has no timestamp.
    name: "octokit",
    sign: (body) => octokit.sign(SECRET, body.toString()),
    verify: async (header, body) => {
      if (!(await octokit.verify(SECRET, body.toString(), header))) throw new Error("no match")
    },
  },
]
