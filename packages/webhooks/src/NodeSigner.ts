import { Signer } from "@outreach/domain/deliveries/Signer"
import { sign } from "@outreach/signature/node"
import { Layer, Redacted } from "effect"

/** Signs with `node:crypto`. */
export const NodeSigner = Layer.succeed(Signer, {
  sign: (body, secrets, timestamp) => sign(body, secrets.map(Redacted.value), { timestamp }),
})
