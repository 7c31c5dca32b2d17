import type { LookupAddress } from "node:dns"
import type { NameAnswer } from "./askName.ts"

/** Questions in flight: in all, and of one organization. */
const MAX_IN_FLIGHT = 64
const MAX_OF_ORGANIZATION = 8
/** The share of both that names may use which did not resolve the last time; the rest is kept for names that did. */
const UNPROVEN_SHARE = 3 / 4
/** How long a look-up waits for a place. */
const WAIT_MS = 1000
/** For how many seconds an answer is kept, whatever its TTL. */
const MIN_TTL_SECONDS = 1
const MAX_TTL_SECONDS = 300
/** For how many seconds a failure is kept: so long after the first, as long again after each further one. */
const FAILURE_SECONDS = 10
const MAX_FAILURE_SECONDS = 30
/** How many names are remembered. */
const MAX_NAMES = 10_000

/** A name was not asked for within the time, because others of the organization, or of all, had every place. */
export class NameNotAsked extends Error {
  override readonly name: string = "NameNotAsked"
  readonly code = "NAME_NOT_ASKED"
}

interface KnownName {
  readonly answer: Promise<NameAnswer>
  /** In milliseconds of the monotonic clock; infinite while the question is in flight. */
  readonly expiresAt: number
  readonly isProven: boolean
  /** Failures in a row. */
  readonly failures: number
}

interface Waiter {
  readonly ask: () => Promise<NameAnswer>
  readonly answered: Promise<NameAnswer>
  readonly resolve: (answer: Promise<NameAnswer>) => void
}

/**
 * Creates what looks a name up by a question, with a cache, and with bounds for each organization and in all; organizations take turns.
 * `key` names the question: of several at a time with one key, only one is asked.
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

  /** Begins what may begin: one question of an organization, then of the next. */
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
