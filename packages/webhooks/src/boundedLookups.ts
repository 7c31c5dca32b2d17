import type { LookupAddress } from "node:dns"
import type { NameAnswer } from "./askName.ts"

/** Maximum queries in flight: in total and per organization. */
const MAX_IN_FLIGHT = 64
const MAX_OF_ORGANIZATION = 8
/** Share of both for names that didn't resolve last time; the rest is reserved for names that did. */
const UNPROVEN_SHARE = 3 / 4
/** Maximum wait of a look-up for a slot. */
const WAIT_MS = 1000
/** Limits of a cached answer's lifetime in seconds, whatever its TTL. */
const MIN_TTL_SECONDS = 1
const MAX_TTL_SECONDS = 300
/** Lifetime of a cached failure in seconds: this after the first, and this much more after each further one. */
const FAILURE_SECONDS = 10
const MAX_FAILURE_SECONDS = 30
/** Maximum number of cached names. */
const MAX_NAMES = 10_000

/** A name wasn't queried in time, because other names of the organization, or of all, used every slot. */
export class NameNotAsked extends Error {
  override readonly name: string = "NameNotAsked"
  readonly code = "NAME_NOT_ASKED"
}

interface KnownName {
  readonly answer: Promise<NameAnswer>
  /** Monotonic milliseconds; infinite while the query is in flight. */
  readonly expiresAt: number
  readonly isProven: boolean
  /** Consecutive failures. */
  readonly failures: number
}

interface Waiter {
  readonly ask: () => Promise<NameAnswer>
  readonly answered: Promise<NameAnswer>
  readonly resolve: (answer: Promise<NameAnswer>) => void
}

/**
 * Creates a caching look-up function with limits per organization and in total; organizations take turns.
 * `key` identifies the query: concurrent queries with the same key are sent once.
 */
export const boundedLookups = () => {
  const known = new Map<string, KnownName>()
  const inFlight = new Map<string, number>()
  const waiting = new Map<string, Map<string, Waiter>>()
  let total = 0

  const note = (key: string, name: KnownName) => {
    known.delete(key)
    known.set(key, name)
    if (known.size > MAX_NAMES) known.delete(known.keys().next().value!)
  }

  const current = (key: string) => {
    const name = known.get(key)
    return name !== undefined && performance.now() < name.expiresAt ? name.answer : undefined
  }

  const begin = (key: string, organization: string, ask: () => Promise<NameAnswer>) => {
    const { isProven = false, failures = 0 } = known.get(key) ?? {}
    const share = isProven ? 1 : UNPROVEN_SHARE
    const ofOrganization = inFlight.get(organization) ?? 0
    if (total >= MAX_IN_FLIGHT * share || ofOrganization >= MAX_OF_ORGANIZATION * share) return undefined
    total++
    inFlight.set(organization, ofOrganization + 1)
    const end = (outcome: Pick<KnownName, "isProven" | "failures">, seconds: number) => {
      note(key, { ...outcome, answer, expiresAt: performance.now() + seconds * 1000 })
      total--
      const left = inFlight.get(organization)! - 1
      if (left > 0) inFlight.set(organization, left)
      else inFlight.delete(organization)
      beginWaiting()
    }
    const answer = ask()
    note(key, { answer, expiresAt: Number.POSITIVE_INFINITY, isProven, failures })
    answer.then(
      ({ ttlSeconds }) =>
        end({ isProven: true, failures: 0 }, Math.min(Math.max(ttlSeconds, MIN_TTL_SECONDS), MAX_TTL_SECONDS)),
      () =>
        end(
          { isProven: false, failures: failures + 1 },
          Math.min(FAILURE_SECONDS * (failures + 1), MAX_FAILURE_SECONDS),
        ),
    )
    return answer
  }

  /** Starts waiting queries while slots are free: one organization after the other. */
  const beginWaiting = () => {
    for (const [organization, waiters] of waiting) {
      let hasBegun = false
      for (const [key, { ask, resolve }] of waiters) {
        const answer = current(key) ?? (hasBegun ? undefined : begin(key, organization, ask))
        if (answer === undefined) continue
        hasBegun = true
        waiters.delete(key)
        resolve(answer)
      }
      if (hasBegun || waiters.size === 0) waiting.delete(organization)
      if (hasBegun && waiters.size > 0) waiting.set(organization, waiters)
    }
  }

  const wait = (key: string, organization: string, ask: () => Promise<NameAnswer>) => {
    const waiters = waiting.get(organization) ?? new Map<string, Waiter>()
    waiting.set(organization, waiters)
    const earlier = waiters.get(key)
    if (earlier !== undefined) return earlier.answered
    let begun: Waiter["resolve"]
    const answered = new Promise<NameAnswer>((resolve, reject) => {
      const deadline = setTimeout(() => {
        waiters.delete(key)
        reject(new NameNotAsked())
      }, WAIT_MS)
      begun = (answer) => {
        clearTimeout(deadline)
        resolve(answer)
      }
    })
    waiters.set(key, { ask, answered, resolve: begun! })
    return answered
  }

  return async (
    key: string,
    organization: string,
    ask: () => Promise<NameAnswer>,
  ): Promise<ReadonlyArray<LookupAddress>> => {
    const answer = current(key) ?? begin(key, organization, ask) ?? wait(key, organization, ask)
    return (await answer).records
  }
}
