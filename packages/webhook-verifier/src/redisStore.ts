import type { EventStore } from "./deduplicate.ts"

/** Sends one command to Redis and resolves to its reply. */
export type RedisCommand = (...command: string[]) => PromiseLike<unknown>

/** Any Redis client: `ioredis` has `call`, `redis` has `sendCommand`; for another, a function that sends a command. */
export type RedisClient =
  | { call(command: string, ...values: string[]): PromiseLike<unknown> }
  | { sendCommand(command: string[]): PromiseLike<unknown> }
  | RedisCommand

/** Where and how a store in Redis keeps its events. */
export interface RedisStoreOptions {
  /** What stands before the event's id in a key. Default `outreach:webhooks:`. */
  readonly prefix?: string | undefined
  /** How long a handler may take before another delivery is handled beside it. Default 300. */
  readonly leaseSeconds?: number | undefined
  /** How long an event that was handled is remembered. Default 604,800, a week: deliveries repeat for 31.2 hours, and after that when replayed by hand. */
  readonly rememberSeconds?: number | undefined
}

const HANDLED = "handled"
const RELEASE = 'if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0'

/** Creates a store in Redis, for any number of processes; each event is one key, which expires by itself. Throws `RangeError` on seconds that no key could live for. */
export function redisStore(
  client: RedisClient,
  { prefix = "outreach:webhooks:", leaseSeconds = 300, rememberSeconds = 604_800 }: RedisStoreOptions = {},
): EventStore {
  const [lease, memory] = [millisecondsOf({ leaseSeconds }), millisecondsOf({ rememberSeconds })]
  const run = commandOf(client)
  return {
    async claim(eventId) {
      const claim = newClaim()
      if ((await run("SET", prefix + eventId, claim, "NX", "PX", lease)) !== null) return { state: "claimed", claim }
      // The claim may have ended since: then the event counts as in progress, and comes again.
      return { state: String(await run("GET", prefix + eventId)) === HANDLED ? "handled" : "in_progress" }
    },
    async complete(eventId) {
      await run("SET", prefix + eventId, HANDLED, "PX", memory)
    },
    async release(eventId, claim) {
      await run("EVAL", RELEASE, "1", prefix + eventId, claim)
    },
  }
}

function commandOf(client: RedisClient): RedisCommand {
  if (typeof client === "function") return client
  // ioredis has a `sendCommand` too, which takes something else.
  if ("call" in client) return (command, ...values) => client.call(command!, ...values)
  return (...command) => client.sendCommand(command)
}

function millisecondsOf(option: Readonly<Record<string, number>>): string {
  const [name, seconds] = Object.entries(option)[0]!
  const milliseconds = Math.round(seconds * 1000)
  if (!Number.isSafeInteger(milliseconds) || milliseconds <= 0) throw new RangeError(`${name} must be more than 0`)
  return String(milliseconds)
}

// Node 18 has no global crypto. A claim need be unique while it is held, not secret.
function newClaim(): string {
  return globalThis.crypto?.randomUUID?.() ?? `${Date.now()}-${Math.random()}-${Math.random()}`
}
