import { Context } from "effect"

/** Seals what stands in a tracked link, so that nobody else can make one; a port because the key is the deployment's. */
export class TrackingSeal extends Context.Service<
  TrackingSeal,
  {
    /** Creates a seal of 16 bytes; the same bytes have the same seal in every process of the deployment. */
    seal(bytes: Uint8Array): Uint8Array
  }
>()("domain/hits/TrackingSeal") {}
