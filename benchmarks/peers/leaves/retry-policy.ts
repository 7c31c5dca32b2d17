import { exponential, retry } from "@outreach/retry-policy"
import { retry as cockatielRetry, ExponentialBackoff, handleAll } from "cockatiel"
import { backOff } from "exponential-backoff"
import pRetry from "p-retry"
import type { Comparison } from "./Comparison.ts"

const SUCCEEDS = "a task that succeeds immediately"
const NEXT_DELAY = "the third delay"

const JITTER = "jitter"
const LISTED = "delays as a list"
const DEADLINE = "a deadline"
const SIGNAL = "a signal stops the wait"
const STOP = "a task can end its retries"
const SOME = "retries selected errors only"
const HTTP = "classifies responses and errors of fetch, undici and Node"
const AWS = "classifies errors of the AWS SDK"
const RETRY_AFTER = "honours `Retry-After`, within a limit"
const PURE = "pure decision function for queues, without clock, randomness or timer"
const CIRCUIT = "circuit breakers, bulkheads, fallbacks"

const task = async (): Promise<number> => 7
const policy = exponential({ first: "200ms", attempts: 6 })
const outcome = { verdict: "transient" } as const

const cockatiel = cockatielRetry(handleAll, { maxAttempts: 5, backoff: new ExponentialBackoff() })
const secondBackoff = new ExponentialBackoff().next().next(undefined)

const call = `async () => {
  const response = await fetch("https://api.example.com/ping")
  if (response.status >= 500) throw new Error(response.statusText)
  return response
}`

/** Each candidate calls a server up to six times, with growing random delays. */
export const comparison: Comparison = {
  features: [JITTER, LISTED, DEADLINE, SIGNAL, STOP, SOME, HTTP, AWS, RETRY_AFTER, PURE, CIRCUIT],
  operations: [SUCCEEDS, NEXT_DELAY],
  candidates: [
    {
      name: "retry-policy",
      packageName: "@outreach/retry-policy",
      code: `import { retry } from "@outreach/retry-policy"
export const ping = () => retry(() => fetch("https://api.example.com/ping"))`,
      has: [JITTER, LISTED, DEADLINE, SIGNAL, STOP, SOME, HTTP, AWS, RETRY_AFTER, PURE],
      operations: {
        [SUCCEEDS]: () => retry(task, policy),
        [NEXT_DELAY]: () => policy.next({ attempt: 3, outcome, random: Math.random }),
      },
    },
    {
      name: "p-retry",
      packageName: "p-retry",
      code: `import pRetry from "p-retry"
export const ping = () => pRetry(${call}, { retries: 5, randomize: true })`,
      has: [JITTER, DEADLINE, SIGNAL, STOP, SOME],
      operations: { [SUCCEEDS]: () => pRetry(task, { retries: 5, randomize: true }) },
    },
    {
      name: "cockatiel",
      packageName: "cockatiel",
      code: `import { ExponentialBackoff, handleAll, retry } from "cockatiel"
const policy = retry(handleAll, { maxAttempts: 5, backoff: new ExponentialBackoff() })
export const ping = () => policy.execute(${call})`,
      // A signal takes effect after the wait.
      has: [JITTER, LISTED, DEADLINE, SOME, CIRCUIT],
      operations: {
        [SUCCEEDS]: () => cockatiel.execute(task),
        [NEXT_DELAY]: () => secondBackoff.next(undefined).duration,
      },
    },
    {
      name: "exponential-backoff",
      packageName: "exponential-backoff",
      code: `import { backOff } from "exponential-backoff"
export const ping = () => backOff(${call}, { numOfAttempts: 6, jitter: "full" })`,
      has: [JITTER, SOME],
      operations: { [SUCCEEDS]: () => backOff(task, { numOfAttempts: 6, jitter: "full" }) },
    },
  ],
}
