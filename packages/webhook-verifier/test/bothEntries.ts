import * as node from "../src/index.node.ts"
import * as web from "../src/index.ts"

/** The entry of every other runtime and that of Node, so that every test runs over both. */
export const bothEntries: ReadonlyArray<{ entry: string; createWebhookVerifier: typeof web.createWebhookVerifier }> = [
  { entry: "on Web Crypto", createWebhookVerifier: web.createWebhookVerifier },
  { entry: "on node:crypto", createWebhookVerifier: node.createWebhookVerifier },
]
