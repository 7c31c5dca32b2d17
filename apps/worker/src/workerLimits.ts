/** How much one worker does at once, and how long each thing may take, as far as no setting says it. */
export const workerLimits = {
  deliveries: {
    /**
     * Several times in a lease, so that a failure or two cost nothing; and twice in the time for which what is known is current.
     * It is also what a hint that was lost costs.
     */
    beatEveryMs: 1000,
    /** For how long after the database has confirmed what is known of endpoints calls may begin. */
    currentMs: 2000,
    beatsPerSweep: 4,
    /** Beats from one look at the logs of all endpoints to the next, whatever was heard of them. */
    beatsPerLook: 300,
    beatsPerRecovery: 2,
    /** An endpoint that has a call in flight may have this share of the calls that are free. */
    shareOfFree: 1 / 8,
    /** Of all calls, for first calls to endpoints that have none in flight. */
    reservedShare: 1 / 2,
    /** While both wait, one call of this many is a retry. */
    eventsPerRetry: 4,
    /** A call that was answered so soon lets one more be in flight. */
    quickMs: 1000,
    /** The events that are read of one endpoint, and the endpoints that are read, in one statement. */
    maxReadOfEndpoint: 64,
    maxEndpointsPerRead: 200,
    /** An endpoint may have this many times its calls in flight in memory. */
    readAhead: 4,
    /** In memory for all endpoints; beyond that each may have a few. */
    maxHeld: 4096,
    maxWaitingWhenFull: 4,
    /** For how long an endpoint is not called whose name had no turn to be resolved. */
    pauseMs: 5000,
    /** When a delivery is sent again whose call failed by a defect of ours. */
    defectDelaySeconds: 10,
    /** Outcomes of calls are written in batches of this size, or this long after the last one. */
    writeBatchSize: 256,
    debounceMs: 40,
    maxPauseMs: 1000,
    /** How often dead letters are logged, in one line. */
    deadLettersEveryMs: 10_000,
  },
  messages: {
    connections: 20,
    /** The others are left to other campaigns, however slowly this one's messages are answered. */
    maxConnectionsPerCampaign: 16,
    /** The waits of RFC 5321 4.5.3.2, and one for connecting. */
    timeouts: { connectMs: 30_000, replyMs: 300_000, dataMs: 120_000, blockMs: 180_000, finalMs: 600_000 },
    /** Messages to send: those on the connections, as many that wait for one, and as many more as a claim brings, so that no connection waits for a claim. */
    concurrency: 120,
    /** Six times the connections of a campaign, because a claim and the recording take as long as sending; the other connections are left to other campaigns. */
    maxPerCampaign: 96,
    minSlots: 32,
    /** With those that the server has answered and that are being recorded, two for each connection. */
    maxHeld: 160,
    leaseSeconds: 100,
    /** While a message is under way its lease is extended this often. */
    renewEveryMs: 25_000,
    /** What must be left of a lease to begin, in milliseconds: a renewal, and a pause of the process. */
    minLeftToBeginMs: 40_000,
    /** What must be left of it when the message itself is sent. */
    minLeftToSendMs: 5000,
  },
  /** Little mail arrives, from the relay or a few mail servers; a report may hold the whole message, which is at most a body of 1 MiB and its encoding. */
  bounces: {
    server: {
      maxClients: 100,
      maxRecipients: 100,
      maxCommandLength: 4096,
      size: 4_194_304,
      socketTimeout: 30_000,
      closeTimeout: 1000,
    },
    maxMessagesPerConnection: 100,
    maxConnectionsPerAddress: 25,
    /** However busy a connection is: a client that sends a byte now and then keeps its place no longer. */
    maxConnectionMs: 300_000,
    /** How often the files of its certificate are looked at. */
    certificateEveryMs: 60_000,
  },
  gauges: {
    everyMs: 10_000,
    withinMs: 2000,
    /** Of the time that may pass in reading them: the wait is at least twenty times as long as the reading was. */
    share: 0.05,
  },
  restores: {
    /** How often it is looked whether the database may be sent from. */
    checkEveryMs: 5000,
    /** How often a paused worker says that it is paused. */
    remindEveryMs: 60_000,
  },
  /** How long a queue that had nothing is left alone: doubled from the shortest at each empty claim, and short again once there was work. */
  pause: { minMs: 50, maxMs: 1000, debounceMs: 20 },
  /** How old the last successful claim of endpoints of a ready worker may be: two of them, and the time limit of a statement. */
  readyWithinSeconds: 3 + 30,
  /** How long a loop waits after a failure: doubled at each further one. */
  backoff: { minMs: 500, maxMs: 30_000 },
} as const
