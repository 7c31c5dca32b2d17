/** A network failure with a code like Node's. */
export class SocketError extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}
