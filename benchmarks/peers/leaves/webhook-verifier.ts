import { createHmac } from "node:crypto"
import * as octokit from "@octokit/webhooks-methods"
import { sampleEvent, signWebhook } from "@outreach/webhook-verifier/testing"
import { Webhook as StandardWebhook } from "standardwebhooks"
import Stripe from "stripe"
import { Webhook as SvixWebhook } from "svix"
// The entry that Node loads from the published package.
import * as node from "../../../packages/webhook-verifier/src/index.node.ts"
import * as web from "../../../packages/webhook-verifier/src/index.ts"
import type { Comparison } from "./Comparison.ts"

const SECRET = `whsec_${"a".repeat(44)}`
const event = sampleEvent("outreach.email_sent")
const BODY = JSON.stringify({ ...event, data: { ...event.data, text: "a".repeat(1500) } })

const signed = await signWebhook(BODY, [SECRET])
const header = new Headers(signed.headers).get("X-Signature")!
const [onNode, onWeb] = [node, web].map(({ createWebhookVerifier }) => createWebhookVerifier({ secrets: [SECRET] }))

const [standard, svix] = [new StandardWebhook(SECRET), new SvixWebhook(SECRET)]
const [ID, at] = ["msg_2b1f0c", new Date()]
const standardHeaders = {
  "webhook-id": ID,
  "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
  "webhook-signature": standard.sign(ID, at, BODY),
}
const octokitHeader = `sha256=${createHmac("sha256", SECRET).update(BODY).digest("hex")}`

const OPERATION = "verify and parse 2 KB"
const [TIMESTAMP, ROTATION, TYPES] = ["a timestamp within a tolerance", "several secrets at once", "typed events"]
const OURS = [
  ...[TIMESTAMP, ROTATION, TYPES],
  "coded errors with the status of the response",
  "adapters for frameworks, with a limit for the body",
  "handles each event once",
  "a command that explains a rejected signature",
]
const EVERYWHERE = "browsers and edge workers"

export const comparison: Comparison = {
  features: [...OURS, EVERYWHERE],
  operations: [OPERATION],
  candidates: [
    {
      name: "webhook-verifier on Node",
      packageName: "@outreach/webhook-verifier",
      code: 'import { createWebhookVerifier } from "../../../packages/webhook-verifier/src/index.node.ts"; console.log(createWebhookVerifier)',
      has: OURS,
      operations: { [OPERATION]: () => onNode!.verify(signed) },
    },
    {
      name: "elsewhere",
      packageName: "@outreach/webhook-verifier",
      code: 'import { createWebhookVerifier } from "../../../packages/webhook-verifier/src/index.ts"; console.log(createWebhookVerifier)',
      has: [...OURS, EVERYWHERE],
      operations: { [OPERATION]: () => onWeb!.verify(signed) },
    },
    {
      name: "standardwebhooks",
      packageName: "standardwebhooks",
      code: 'import { Webhook } from "standardwebhooks"; console.log(Webhook)',
      has: [TIMESTAMP, EVERYWHERE],
      operations: { [OPERATION]: () => standard.verify(BODY, standardHeaders) },
    },
    {
      name: "svix",
      packageName: "svix",
      code: 'import { Webhook } from "svix"; console.log(Webhook)',
      has: [TIMESTAMP, EVERYWHERE],
      operations: { [OPERATION]: () => svix.verify(BODY, standardHeaders) },
    },
    {
      name: "stripe",
      packageName: "stripe",
      code: 'import Stripe from "stripe"; console.log(Stripe.webhooks)',
      has: [TIMESTAMP, TYPES, EVERYWHERE],
      operations: { [OPERATION]: () => Stripe.webhooks.constructEvent(BODY, header, SECRET) },
    },
    {
      name: "@octokit/webhooks-methods",
      packageName: "@octokit/webhooks-methods",
      code: 'import { verifyWithFallback } from "@octokit/webhooks-methods"; console.log(verifyWithFallback)',
      has: [ROTATION, EVERYWHERE],
      operations: {
        [OPERATION]: async () => {
          if (!(await octokit.verifyWithFallback(SECRET, BODY, octokitHeader, []))) throw new Error("no match")
          return JSON.parse(BODY)
        },
      },
    },
  ],
}
