import { Context, type Redacted } from "effect"

/** Signs webhook bodies; a port because the fast HMAC is the platform's. */
export class Signer extends Context.Service<
  Signer,
  {
    /** Creates the value of `X-Signature`: one entry for each secret. `timestamp` is in Unix seconds. */
    sign(body: Uint8Array, secrets: ReadonlyArray<Redacted.Redacted>, timestamp: number): string
  }
>()("domain/deliveries/Signer") {}
