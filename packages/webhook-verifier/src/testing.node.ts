// The `/testing` entry for Node, because Node 18 has no global `crypto`.
import { sign } from "@outreach/signature/node"
import { signWith } from "./signWith.ts"
import type * as testing from "./testing.ts"

export { sampleEvent, sampleTypes } from "./sampleEvent.ts"

export const signWebhook: typeof testing.signWebhook = (...given) => signWith(sign, ...given)
