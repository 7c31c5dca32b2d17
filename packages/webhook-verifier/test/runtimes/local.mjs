// Node, Deno and Bun: prints how many checks held, over the entry that the runtime resolves, and where it has Web Crypto over the other too.
import * as resolved from "@outreach/webhook-verifier"
import { webhookHandler } from "@outreach/webhook-verifier/fetch"
import * as testing from "@outreach/webhook-verifier/testing"
import data from "./data.mjs"
import { checkVectors } from "./vectors.mjs"

const dist = "./node_modules/@outreach/webhook-verifier/dist"
let held = await checkVectors({ ...resolved, ...testing }, webhookHandler, data)
if (globalThis.crypto?.subtle) {
  const web = { ...(await import(`${dist}/index.js`)), ...(await import(`${dist}/testing.js`)) }
  held += await checkVectors(web, webhookHandler, data)
}
console.log(held)
