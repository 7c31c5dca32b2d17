/** A failed connection with a known fault. */
export class SocketError extends Error {
  readonly code: string
  constructor({ code, advice }: { readonly code: string; readonly advice: string }) {
    super(advice)
    this.code = code
  }
}
