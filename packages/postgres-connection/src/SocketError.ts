import type { DatabaseFault } from "./describeDatabaseError.ts"

/** A failed connection with a known fault. */
export class SocketError extends Error {
  readonly code: string
  constructor({ code, advice }: DatabaseFault) {
    super(advice)
    this.code = code
  }
}
