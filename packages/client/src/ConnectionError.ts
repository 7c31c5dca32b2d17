const messages = {
  network: "The service could not be reached, or the connection broke off",
  timeout: "The service did not answer in time",
  unreadable: "The answer is not JSON, so it is not the service's",
} as const

/** A request that has no answer. Whether the service acted on it is not known. */
export class ConnectionError extends Error {
  override readonly name: string = "ConnectionError"
  /** `network`: unreachable or broken off; `timeout`: no whole answer in time; `unreadable`: an answer, but not the service's. */
  readonly reason: "network" | "timeout" | "unreadable"

  constructor(reason: "network" | "timeout" | "unreadable", cause?: unknown) {
    super(messages[reason], { cause })
    this.reason = reason
  }
}
