// Node, Deno and Bun: prints how many checks held, over the entry that the runtime resolves, and where it has Web Crypto over the other too.
import * as resolved from "@outreach/webhook-verifier"
import { webhookHandler } from "@outreach/webhook-verifier/fetch"
import data from "./data.mjs"
import { checkVectors } from "./vectors.mjs"

const web = await import("./node_modules/@outreach/webhook-verifier/dist/index.js")
let held = await checkVectors(resolved, webhookHandler, data)
if (globalThis.crypto?.subtle) held += await checkVectors(web, webhookHandler, data)
console.log(held)
