import type { EventStore } from "./EventStore.ts"

/** Sends one command to Redis. Resolves to its reply. */
export type RedisCommand = (...command: string[]) => PromiseLike<unknown>

/** Any Redis client: `ioredis` (`call`), `redis` (`sendCommand`), or a function that sends a command. */
export type RedisClient =
  | { call(command: string, ...values: string[]): PromiseLike<unknown> }
  | { sendCommand(command: string[]): PromiseLike<unknown> }
  | RedisCommand

/** Options of `redisStore`. */
export interface RedisStoreOptions {
  /** Key prefix before the event id. Default `outreach:webhooks:`. */
  readonly prefix?: string | undefined
  /** Seconds until a claim expires and another delivery is handled. Default 300. */
  readonly leaseSeconds?: number | undefined
  /** Seconds for which a handled event is remembered. Default 604,800 (a week). The service retries for 31.2 hours; manual replays can come later. */
  readonly rememberSeconds?: number | undefined
}

const HANDLED = "handled"
const RELEASE = 'if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0'

/** Creates a store in Redis for any number of processes. Each event is one key, which expires. Throws `RangeError` on invalid seconds. */
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
      // The claim may have expired in between. Then the event counts as in progress, and the service retries it.
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
  // ioredis also has a `sendCommand`, with a different signature.
  if ("call" in client) return (command, ...values) => client.call(command!, ...values)
  return (...command) => client.sendCommand(command)
}

function millisecondsOf(option: Readonly<Record<string, number>>): string {
  const [name, seconds] = Object.entries(option)[0]!
  const milliseconds = Math.round(seconds * 1000)
  if (!Number.isSafeInteger(milliseconds) || milliseconds <= 0) throw new RangeError(`${name} must be more than 0`)
  return String(milliseconds)
}

// Node 18 has no global crypto. A claim must be unique, not secret.
function newClaim(): string {
  return globalThis.crypto?.randomUUID?.() ?? `${Date.now()}-${Math.random()}-${Math.random()}`
}
