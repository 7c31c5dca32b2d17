import { wholeMilliseconds } from "./decide.ts"
import type { RateLimitStore } from "./rateLimiter.ts"

/** Sends one command to Redis. Resolves to its reply. */
export type RedisCommand = (...command: string[]) => PromiseLike<unknown>

/** Any Redis client: `ioredis` (`call`), `redis` (`sendCommand`), or a function that sends a command. */
export type RedisClient =
  | { call(command: string, ...values: string[]): PromiseLike<unknown> }
  | { sendCommand(command: string[]): PromiseLike<unknown> }
  | RedisCommand

/** Options of `redisStore`. */
export interface RedisStoreOptions {
  /** Key prefix. Default `rate-limit:`. */
  readonly prefix?: string | undefined
  /** Current time in Unix milliseconds, the same for all processes. Default: the Redis server's clock. */
  readonly now?: (() => number) | undefined
}

/**
 * Creates a store in Redis 5 or later for any number of processes. Each request is one script on one key, which expires.
 *
 * Configure the client to fail quickly while Redis is unavailable instead of queueing commands: `disableOfflineQueue: true` for `redis`,
 * `enableOfflineQueue: false` for `ioredis`.
 */
export function redisStore(
  client: RedisClient,
  { prefix = "rate-limit:", now }: RedisStoreOptions = {},
): RateLimitStore {
  const run = commandOf(client)
  return {
    async spend(key, { units, forceUntil }, { id }) {
      const rest = ["1", `${prefix}${id}:${key}`, id, `${units}`, `${forceUntil}`]
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
  // ioredis also has a `sendCommand`, with a different signature.
  if ("call" in client) return (command, ...values) => client.call(command!, ...values)
  return (...command) => client.sendCommand(command)
}

/** `spend` as a Redis script: the same arithmetic on one key, by the server's clock unless a time is given. */
const SCRIPT = `local limit,unit,leak,window=string.match(ARGV[1],':(%d+):(%d+):(%d+):(%d+)$')
limit,leak,window=limit*unit,tonumber(leak),tonumber(window)
local units,now=tonumber(ARGV[2]),tonumber(ARGV[4])
if not now then local t=redis.call('TIME') now=t[1]*1000+math.floor(t[2]/1000) end
local used,at=0,now
local u,a=string.match(redis.call('GET',KEYS[1]) or '','^(%d+) (%d+)$')
if u then
u,a=tonumber(u),tonumber(a)
if a>now and a-now<=window then at=a end
if leak>0 then used=math.max(0,u-math.min(math.max(0,at-a),window)*leak)
elseif math.floor(at/window)<=math.floor(a/window) then used=u end
end
if at<tonumber(ARGV[3]) then units=math.max(-used,math.min(units,limit-used)) else units=math.max(0,units) end
local allowed=0
if used+units<=limit then used=used+units allowed=1 end
if used>0 then redis.call('SET',KEYS[1],string.format('%.0f %.0f',used,at),'PX',string.format('%.0f',at-now+window))
elseif u then redis.call('DEL',KEYS[1]) end
return {allowed,used,at,now}`

/** SHA-1 of the script, as printed by `sha1sum`. */
const SCRIPT_SHA1 = "e43119afc333ae63dd06773a9c4670ef71efe273"
