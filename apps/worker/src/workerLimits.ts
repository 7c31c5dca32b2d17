/**
 * How much one worker does at once, and how long each thing may take.
 *
 * A lease outlasts the whole call with a margin for its settlement, so that nobody else takes what is still under way.
 */
export const workerLimits = {
  deliveries: {
    /** Calls in flight in this worker. */
    atOnce: 64,
    /** Calls in flight to one endpoint, over all workers. */
    perEndpoint: 16,
    connectMs: 5000,
    /** The whole call: name resolution, connection, request, headers and body. */
    callMs: 15_000,
    leaseSeconds: 30,
  },
  messages: {
    /** Messages in flight, and so connections to the mail server. */
    atOnce: 16,
    /** From connecting to the server's last word. */
    callMs: 30_000,
    leaseSeconds: 45,
  },
  /** How long a queue that had nothing is left alone: doubled from the shortest at each empty claim, and short again once there was work. */
  pause: { shortestMs: 50, longestMs: 1000 },
  /** How long a loop waits after a failure: doubled at each further one. */
  backoff: { shortestMs: 500, longestMs: 30_000 },
} as const
