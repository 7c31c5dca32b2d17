import { MAX_RETURNED_BYTES } from "@outreach/mail/returned/parseReturned"

/** Concurrency and time limits of one worker that aren't settings. */
export const workerLimits = {
  deliveries: {
    /**
     * Several times per lease, so that one or two failures don't matter, and twice within `currentMs`.
     * This is also the delay caused by a lost notification.
     */
    beatEveryMs: 1000,
    /** How long calls may start after the database confirmed the state of endpoints. */
    currentMs: 2000,
    beatsPerSweep: 4,
    /** Beats between full reads of the logs of all endpoints. */
    beatsPerFullRead: 300,
    beatsPerRecovery: 2,
    /** Share of the free calls that an endpoint with a call in flight may use. */
    shareOfFree: 1 / 8,
    /** Share of all calls reserved for first calls to idle endpoints. */
    reservedShare: 1 / 2,
    /** If events and retries wait, one in this many calls is a retry. */
    eventsPerRetry: 4,
    /** A faster response increases the call limit by one. */
    quickMs: 1000,
    /** Maximum number of events per endpoint, and of endpoints, read by one statement. */
    maxReadOfEndpoint: 64,
    maxEndpointsPerRead: 200,
    /** Deliveries in memory per allowed call in flight of an endpoint. */
    readAhead: 4,
    /** Limit for all endpoints; above it, each endpoint may have a few. */
    maxHeld: 4096,
    maxWaitingWhenFull: 4,
    /** Pause of an endpoint whose name couldn't be resolved yet. */
    pauseMs: 5000,
    /** Delay before a delivery whose call failed because of a defect is sent again. */
    defectDelaySeconds: 10,
    /** Outcomes are written in batches of this size, or after this time. */
    writeBatchSize: 256,
    debounceMs: 40,
    maxPauseMs: 1000,
    /** Interval of the log lines for dead letters. */
    deadLettersEveryMs: 10_000,
  },
  messages: {
    /** Messages that are sent at the same time, each over its own connection. */
    turns: 20,
    /** Leaves turns for other campaigns, however slow this one's replies are. */
    maxTurnsPerCampaign: 16,
    /** Messages in progress: those waiting for a turn, being sent or being recorded. Several times the turns, so that these don't wait for claims. */
    concurrency: 160,
    /** Six times the turns of a campaign, because claiming and recording take as long as sending; the rest is for other campaigns. */
    maxPerCampaign: 96,
    minSlots: 32,
    leaseSeconds: 100,
    /** Renewal interval of the lease of a message in progress. */
    renewEveryMs: 25_000,
    /** Minimum remaining lease to start a message, in milliseconds: a renewal, and a pause of the process. */
    minLeftToBeginMs: 40_000,
    /** Minimum remaining lease when the content is sent. */
    minLeftToSendMs: 5000,
  },
  /** Few messages arrive, from the relay or a few mail servers. */
  bounces: {
    server: {
      maxClients: 100,
      maxRecipients: 100,
      maxCommandLength: 4096,
      size: MAX_RETURNED_BYTES,
      socketTimeout: 30_000,
      closeTimeout: 1000,
    },
    maxMessagesPerConnection: 100,
    maxConnectionsPerAddress: 25,
    /** Total limit: slow senders can't keep a connection open by sending single bytes. */
    maxConnectionMs: 300_000,
  },
  gauges: {
    everyMs: 10_000,
    withinMs: 2000,
    /** Maximum share of time spent on readings: the pause is at least twenty times the reading's duration. */
    share: 0.05,
  },
  restores: {
    /** Interval of the check whether sending is allowed. */
    checkEveryMs: 5000,
    /** Interval of the reminder of a paused worker. */
    remindEveryMs: 60_000,
  },
  /** Poll interval of an empty queue: doubles with each empty claim, and resets after work. */
  pause: { minMs: 50, maxMs: 1000, debounceMs: 20 },
  /** Maximum age of the last successful claim of a ready worker: two claim intervals and a statement timeout. */
  readyWithinSeconds: 3 + 30,
  /** Wait of a loop after a failure; doubles with each further failure. */
  backoff: { minMs: 500, maxMs: 30_000 },
} as const
