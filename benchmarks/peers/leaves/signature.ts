import { candidates } from "../signature/candidates.ts"
import type { Candidate, Comparison } from "./Comparison.ts"

const BODY = JSON.stringify({ object: "event", data: { text: "a".repeat(2000) } })

/** Returns the operations of a candidate of `bench:signature`, with a pre-signed header. */
async function operationsOf(name: string): Promise<Candidate["operations"]> {
  const { sign, verify } = candidates.find((candidate) => candidate.name === name)!
  const header = await sign(BODY)
  return { "sign 2 KB": () => sign(BODY), "verify 2 KB": () => verify(header, BODY) }
}

const COMMON = ["a timestamp within a tolerance", "several signatures in one header, for a rotation"]
const EVERYWHERE = "browsers and edge workers"

export const comparison: Comparison = {
  features: [
    ...COMMON,
    "signs with several secrets at once",
    "reports which secret matched",
    "coded errors",
    "synchronous on Node",
    EVERYWHERE,
    "signs a message id",
  ],
  operations: ["sign 2 KB", "verify 2 KB"],
  candidates: [
    {
      name: "signature/node",
      packageName: "@outreach/signature",
      code: 'import { sign, verify } from "@outreach/signature/node"; console.log(sign, verify)',
      has: [
        ...COMMON,
        "signs with several secrets at once",
        "reports which secret matched",
        "coded errors",
        "synchronous on Node",
      ],
      operations: await operationsOf("ours, synchronous"),
    },
    {
      name: "signature",
      packageName: "@outreach/signature",
      code: 'import { sign, verify } from "@outreach/signature"; console.log(sign, verify)',
      has: [
        ...COMMON,
        "signs with several secrets at once",
        "reports which secret matched",
        "coded errors",
        EVERYWHERE,
      ],
      operations: await operationsOf("ours, Web Crypto"),
    },
    {
      name: "standardwebhooks",
      packageName: "standardwebhooks",
      code: 'import { Webhook } from "standardwebhooks"; console.log(Webhook)',
      has: [...COMMON, "synchronous on Node", EVERYWHERE, "signs a message id"],
      operations: await operationsOf("standardwebhooks"),
    },
    {
      name: "svix",
      packageName: "svix",
      code: 'import { Webhook } from "svix"; console.log(Webhook)',
      has: [...COMMON, "synchronous on Node", EVERYWHERE, "signs a message id"],
      operations: await operationsOf("svix"),
    },
    {
      name: "stripe",
      packageName: "stripe",
      code: 'import Stripe from "stripe"; console.log(Stripe.webhooks)',
      has: [...COMMON, "synchronous on Node", EVERYWHERE],
      operations: await operationsOf("stripe"),
    },
    {
      name: "@octokit/webhooks-methods",
      packageName: "@octokit/webhooks-methods",
      code: 'import { sign, verify } from "@octokit/webhooks-methods"; console.log(sign, verify)',
      has: [EVERYWHERE],
      operations: await operationsOf("octokit"),
    },
  ],
}
