import { wholeMilliseconds } from "./decide.ts"
import type { RateLimitStore } from "./rateLimiter.ts"
import { SCRIPT, SCRIPT_SHA1 } from "./redisScript.ts"

/** Sends one command to Redis and resolves to its reply. */
export type RedisCommand = (...command: string[]) => PromiseLike<unknown>

/** Any Redis client: `ioredis` has `call`, `redis` has `sendCommand`; for another, a function that sends a command. */
export type RedisClient =
  | { call(command: string, ...values: string[]): PromiseLike<unknown> }
  | { sendCommand(command: string[]): PromiseLike<unknown> }
  | RedisCommand

/** Where a store in Redis keeps its keys. */
export interface RedisStoreOptions {
  /** What stands before each key. Default `rate-limit:`. */
  readonly prefix?: string | undefined
  /** The clock, in Unix milliseconds, the same in every process. Default: the Redis server's. */
  readonly now?: (() => number) | undefined
}

/**
 * Creates a store in Redis, 5 or later, for any number of processes. Each request is one script on one key, which expires by itself.
 *
 * Let the client fail quickly when Redis is away, instead of keeping commands for later: `disableOfflineQueue: true` of `redis`,
 * `enableOfflineQueue: false` of `ioredis`.
 */
export function redisStore(
  client: RedisClient,
  { prefix = "rate-limit:", now }: RedisStoreOptions = {},
): RateLimitStore {
  const run = commandOf(client)
  return {
    async spend(key, units, { id }) {
      const rest = ["1", `${prefix}${id}:${key}`, id, `${units}`]
      if (now) rest.push(`${wholeMilliseconds(now())}`)
      const reply = await run("EVALSHA", SCRIPT_SHA1, ...rest).then(undefined, (error: unknown) => {
        if (!/^NOSCRIPT/.test((error as Error | undefined)?.message ?? "")) throw error
        return run("EVAL", SCRIPT, ...rest)
      })
      const [allowed, used, at, counted] = (reply as unknown[]).map(Number) as [number, number, number, number]
      return { allowed: allowed === 1, used, at, now: counted }
    },
  }
}

function commandOf(client: RedisClient): RedisCommand {
  if (typeof client === "function") return client
  // ioredis has a `sendCommand` too, which takes something else.
  if ("call" in client) return (command, ...values) => client.call(command!, ...values)
  return (...command) => client.sendCommand(command)
}
