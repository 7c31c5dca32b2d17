import { networkOf } from "@outreach/domain/networkOf"
import { decideCount, fixedWindow } from "@outreach/rate-limit"

/** Maximum number of addresses in memory; the oldest are evicted. */
const MAX_ADDRESSES = 100_000

/**
 * Limits failed authentications per client address and clock minute, within this process. `clientOf` returns the key that
 * shares a limit; default: the network of the address.
 */
export const addressLimit = (limit: number, clientOf: (address: string) => string = networkOf) => {
  const policy = fixedWindow({ limit })
  const failures = new Map<string, number>()
  let minuteEnds = 0
  const startMinute = (now: number) => {
    if (now < minuteEnds) return
    failures.clear()
    minuteEnds = decideCount(policy, 0, now * 1000).reset
  }

  return {
    /** Returns the seconds that an address must wait; undefined if it may try. `now` is in Unix seconds. */
    wait: (address: () => string, now: number): number | undefined => {
      startMinute(now)
      if (failures.size === 0) return undefined
      const count = failures.get(clientOf(address())) ?? 0
      return decideCount(policy, count + 1, now * 1000).retryAfter ?? undefined
    },
    countFailure: (address: string, now: number): void => {
      startMinute(now)
      const client = clientOf(address)
      const count = failures.get(client) ?? 0
      if (count === 0 && failures.size >= MAX_ADDRESSES) failures.delete(failures.keys().next().value!)
      failures.set(client, count + 1)
    },
  }
}
