import { execFile } from "node:child_process"
import { once } from "node:events"
import { setTimeout } from "node:timers/promises"
import { promisify } from "node:util"
import { request } from "undici"
import { describe, expect, it } from "vitest"
import { exponential } from "../src/exponential.ts"
import type { Policy } from "../src/Policy.ts"
import { type Attempted, type RetryOptions, retry } from "../src/retry.ts"
import { schedule } from "../src/schedule.ts"
import { stop } from "../src/stop.ts"
import { startServer } from "./startServer.ts"

const EVERY_SECOND = schedule(["1s", "1s", "1s"])
const unavailable = Object.assign(new Error("not now"), { status: 503 })

/** A clock that goes on by what is slept, and what was waited. */
function simulatedTime() {
  let time = 1_780_000_000_000
  const waits: number[] = []
  const sleep = async (milliseconds: number) => {
    waits.push(milliseconds)
    time += milliseconds
  }
  return {
    waits,
    sleep,
    now: () => time,
    random: () => 0.5,
    goOn: (milliseconds: number) => {
      time += milliseconds
    },
  }
}

/** A task that fails with each of the errors in turn, and then returns "done". */
function failingWith(...errors: unknown[]) {
  const task = async ({ attempt }: { readonly attempt: number }) => {
    task.attempts = attempt
    if (attempt <= errors.length) throw errors[attempt - 1]
    return "done"
  }
  task.attempts = 0
  return task
}

describe("retry", () => {
  it("returns the task's result, and waits between attempts according to the policy", async () => {
    const { waits, ...time } = simulatedTime()
    const task = failingWith(unavailable, unavailable)
    expect(await retry(task, exponential({ first: "1s" }), time)).toBe("done")
    expect([task.attempts, waits]).toEqual([3, [500, 1000]])
  })

  it("needs only a task, and makes six attempts within a minute by default", async () => {
    expect(await retry(failingWith(unavailable))).toBe("done")

    const { waits, ...time } = simulatedTime()
    await expect(retry(failingWith(...Array(9).fill(unavailable)), undefined, time)).rejects.toBe(unavailable)
    expect(waits).toEqual([100, 200, 400, 800, 1600])
    const busy = () => new Response(null, { status: 503, headers: { "Retry-After": "60" } })
    expect(await retry(busy, undefined, time)).toMatchObject({ status: 503 })
    expect(waits).toHaveLength(5)
  })

  it("stops when the task throws stop(error), and rejects with this error, whatever the classification", async () => {
    const { waits, ...time } = simulatedTime()
    const transient = () => ({ verdict: "transient", reason: "mine" }) as const
    for (const error of [unavailable, "text", undefined]) {
      const attempts: unknown[] = []
      const onAttempt = ({ error, outcome }: Attempted<string>) => attempts.push([error, outcome.verdict])
      const stopped = retry(failingWith(stop(error)), EVERY_SECOND, { ...time, classify: transient, onAttempt })
      await expect(stopped).rejects.toBe(error)
      expect(attempts).toEqual([[error, "permanent"]])
    }
    expect(waits).toEqual([])
  })

  it("takes a task that is not asynchronous, and calls neither sleep nor random where it succeeds", async () => {
    const never = () => expect.unreachable()
    expect(await retry(() => 7, exponential(), { sleep: never, random: never, now: () => 0 })).toBe(7)
  })

  it("throws the last attempt's error unchanged", async () => {
    const last = Object.assign(new Error("last"), { status: 500 })
    const task = failingWith(unavailable, unavailable, last)
    await expect(retry(task, schedule("1s,1s"), simulatedTime())).rejects.toBe(last)
    expect(task.attempts).toBe(3)
  })

  it("throws a permanent failure immediately", async () => {
    const { waits, ...time } = simulatedTime()
    const wrong = new TypeError("x is not a function")
    await expect(retry(failingWith(wrong), EVERY_SECOND, time)).rejects.toBe(wrong)
    expect(waits).toEqual([])
  })

  it.each([undefined, null, "text", 503, { message: "an object" }])(
    "throws %j, which is not an error, at once",
    async (thrown) => {
      const task = failingWith(thrown)
      const onAttempt = ({ outcome }: Attempted<string>) => expect(outcome.verdict).toBe("permanent")
      await expect(retry(task, EVERY_SECOND, { ...simulatedTime(), onAttempt })).rejects.toBe(thrown)
      expect(task.attempts).toBe(1)
    },
  )

  it("throws the error of a synchronous task", async () => {
    const task = () => {
      throw unavailable
    }
    await expect(retry(task, schedule([]), simulatedTime())).rejects.toBe(unavailable)
  })

  it("accepts a custom classification of results and errors", async () => {
    const settled: unknown[] = []
    const classify: RetryOptions<number, never>["classify"] = (result) => {
      settled.push(result)
      return { verdict: result === 3 ? "success" : "transient", reason: "mine", retryAfter: 250 }
    }
    const task = async ({ attempt }: { readonly attempt: number }) => {
      if (attempt === 1) throw unavailable
      return attempt
    }
    const { waits, ...time } = simulatedTime()
    expect(await retry(task, EVERY_SECOND, { ...time, classify })).toBe(3)
    expect([settled, waits]).toEqual([
      [unavailable, 2, 3],
      [1250, 1250],
    ])
  })

  it("reports each attempt and the next step before it waits", async () => {
    const attempts: Attempted<string>[] = []
    const { waits, ...time } = simulatedTime()
    const onAttempt = async (attempted: Attempted<string>) => {
      await setTimeout()
      expect(waits).toHaveLength(attempts.push(attempted) - 1)
    }
    await retry(failingWith(unavailable), EVERY_SECOND, { ...time, onAttempt })
    expect(attempts).toEqual([
      {
        attempt: 1,
        outcome: { verdict: "transient", reason: "503" },
        next: { retry: true, delay: 1000 },
        error: unavailable,
      },
      {
        attempt: 2,
        outcome: { verdict: "success", reason: "" },
        next: { retry: false, because: "success" },
        result: "done",
      },
    ])
  })

  it("rejects with any error of onAttempt, sleep, the clock, the policy or the classification", async () => {
    const error = new Error("mine")
    const fail = () => {
      throw error
    }
    const time = simulatedTime()
    for (const options of [{ onAttempt: fail }, { sleep: fail }, { classify: fail }, { now: fail }]) {
      const task = failingWith(unavailable)
      await expect(retry(task, EVERY_SECOND, { ...time, ...options })).rejects.toBe(error)
      expect(task.attempts).toBeLessThan(2)
    }
    const policy: Policy = { next: fail }
    await expect(retry(failingWith(unavailable), policy, time)).rejects.toBe(error)
  })

  it("waits for longer than a timer can, in parts", async () => {
    const { waits, ...time } = simulatedTime()
    await retry(failingWith(unavailable), schedule("60d"), time)
    expect(waits).toEqual([2_147_483_647, 2_147_483_647, 889_032_706])
  })

  it("waits once even if the delay is 0, so that other tasks can run", async () => {
    const { waits, ...time } = simulatedTime()
    await retry(failingWith(unavailable), schedule("0s"), time)
    expect(waits).toEqual([0])
  })
})

describe("a deadline", () => {
  it("includes the time of attempts and waits, and stops before a wait that exceeds it", async () => {
    const { waits, goOn, ...time } = simulatedTime()
    const task = async () => {
      goOn(4000)
      throw unavailable
    }
    await expect(retry(task, schedule("1s,2s,4s", { deadline: "15s" }), time)).rejects.toBe(unavailable)
    expect(waits).toEqual([1000, 2000])
  })

  it("is put off by no more than an attempt when the clock is set back", async () => {
    const { waits, goOn, ...time } = simulatedTime()
    const task = async ({ attempt }: { readonly attempt: number }) => {
      goOn([4000, -3_600_000, 4000, 1][attempt - 1]!)
      throw unavailable
    }
    const policy = schedule(Array(10).fill("1s"), { deadline: "10s" })
    await expect(retry(task, policy, time)).rejects.toBe(unavailable)
    expect(waits).toEqual([1000, 1000, 1000])
  })
})

describe("a signal", () => {
  const reason = new Error("enough")
  const forever = () => new Promise<never>(() => {})

  it("that is already aborted prevents the first attempt", async () => {
    const task = failingWith()
    const signal = AbortSignal.abort(reason)
    await expect(retry(task, EVERY_SECOND, { ...simulatedTime(), signal })).rejects.toBe(reason)
    expect(task.attempts).toBe(0)
  })

  it("is handed to the task, which is given null without one", async () => {
    const { signal } = new AbortController()
    const given = ({ signal }: { readonly signal: AbortSignal | null }) => signal
    expect(await retry(given, EVERY_SECOND, { ...simulatedTime(), signal })).toBe(signal)
    expect(await retry(given, EVERY_SECOND, simulatedTime())).toBeNull()
  })

  it("ends a wait at once, whether or not sleep heeds it, and leaves no listener", async () => {
    const heeding = (ms: number, signal: AbortSignal) => setTimeout(ms, null, { signal })
    const failing = (_: number, signal: AbortSignal) =>
      new Promise((__, reject) => signal.addEventListener("abort", () => reject(new Error("woken"))))
    for (const sleep of [forever, heeding, failing]) {
      const controller = new AbortController()
      const added = new Set<unknown>()
      const { signal } = controller
      const watched = {
        get aborted() {
          return signal.aborted
        },
        throwIfAborted: () => signal.throwIfAborted(),
        addEventListener: (type: "abort", listener: () => void) => {
          added.add(listener)
          signal.addEventListener(type, listener)
        },
        removeEventListener: (type: "abort", listener: () => void) => {
          added.delete(listener)
          signal.removeEventListener(type, listener)
        },
      }
      const onAttempt = () => void setImmediate(() => controller.abort(reason))
      const task = failingWith(unavailable)
      const options = { ...simulatedTime(), sleep: (ms: number) => sleep(ms, signal), signal: watched, onAttempt }
      await expect(retry(task, schedule("1h"), options)).rejects.toBe(reason)
      expect([task.attempts, added.size]).toEqual([1, 0])
    }
  })

  it("ends the default wait, so that the process can exit", async () => {
    const program = `import { retry } from ${JSON.stringify(import.meta.resolve("../src/retry.ts"))}
      import { schedule } from ${JSON.stringify(import.meta.resolve("../src/schedule.ts"))}
      const controller = new AbortController()
      const onAttempt = () => setImmediate(() => controller.abort("enough"))
      const task = () => new Response(null, { status: 503 })
      await retry(task, schedule("1d"), { signal: controller.signal, onAttempt }).catch(console.log)`
    const { stdout } = await promisify(execFile)(process.execPath, ["-e", program], { timeout: 60_000 })
    expect(stdout).toBe("enough\n")
  })

  it.each([
    ["transient", unavailable, "1h"],
    ["permanent", new TypeError("x is not a function"), "1h"],
    ["last", unavailable, []],
    ["stopped", stop(unavailable), "1h"],
    ["timeout's", new DOMException("late", "TimeoutError"), "1h"],
  ])("that aborts during a %s failure, or in onAttempt, replaces it by its reason", async (_, failure, delays) => {
    for (const moment of ["task", "onAttempt"]) {
      const controller = new AbortController()
      const abortIn = (name: string) => void (name === moment && controller.abort(reason))
      let attempts = 0
      const task = () => {
        attempts++
        abortIn("task")
        throw failure
      }
      const { signal } = controller
      const options = { ...simulatedTime(), signal, onAttempt: () => abortIn("onAttempt"), sleep: forever }
      await expect(retry(task, schedule(delays), options)).rejects.toBe(reason)
      expect(attempts).toBe(1)
    }
  })

  it("doesn't end an attempt, but replaces its unsuccessful response, and cancels the body", async () => {
    const controller = new AbortController()
    const events: string[] = []
    const body = new ReadableStream({ cancel: () => void events.push("cancelled") })
    const task = async () => {
      controller.abort(reason)
      await setTimeout()
      events.push("ended")
      return new Response(body, { status: 404 })
    }
    await expect(retry(task, undefined, { signal: controller.signal })).rejects.toBe(reason)
    expect(events).toEqual(["ended", "cancelled"])
  })

  it("of the task only ends this attempt: its timeout is retried, its abort isn't unless listed", async () => {
    const { url } = await startServer(({ url }, response) => void (url !== "/1" && response.end("done")))
    const timed = ({ attempt }: { readonly attempt: number }) =>
      fetch(`${url}${attempt}`, { signal: AbortSignal.timeout(attempt === 1 ? 1 : 60_000) })
    expect(await (await retry(timed, EVERY_SECOND, simulatedTime())).text()).toBe("done")

    const aborted = failingWith(new DOMException("given up", "AbortError"))
    await expect(retry(aborted, EVERY_SECOND, simulatedTime())).rejects.toMatchObject({ name: "AbortError" })
    expect(aborted.attempts).toBe(1)
    expect(await retry(aborted, EVERY_SECOND, { ...simulatedTime(), retryOn: ["AbortError"] })).toBe("done")
  })

  it("doesn't discard the result of a task that succeeds after the abort", async () => {
    const controller = new AbortController()
    const task = () => {
      controller.abort(reason)
      return "done"
    }
    expect(await retry(task, EVERY_SECOND, { ...simulatedTime(), signal: controller.signal })).toBe("done")
  })
})

describe("over HTTP", () => {
  const RETRY_ON = [408, 429, "5xx", "network"] as const

  it.each([
    ["fetch", (url: string, signal: AbortSignal | null) => fetch(url, { signal })],
    ["undici", (url: string, signal: AbortSignal | null) => request(url, { signal })],
  ])("repeats a call of %s through refusals and broken connections, and waits for Retry-After", async (_, call) => {
    const { url } = await startServer((request, response) => {
      const count = ++requests
      if (count === 1) response.writeHead(503, { "Retry-After": "3" }).end("busy")
      else if (count === 2)
        response.writeHead(429, { "Retry-After": new Date(Date.now() + 60_000).toUTCString() }).end()
      else if (count === 3) request.socket.destroy()
      else response.end("done")
    })
    let requests = 0
    const { waits, ...time } = simulatedTime()
    const { body } = await retry(
      ({ signal }) => call(url, signal) as Promise<{ readonly body: unknown }>,
      EVERY_SECOND,
      { ...time, retryOn: RETRY_ON },
    )
    expect(await new Response(body as ReadableStream).text()).toBe("done")
    expect([requests, waits]).toEqual([4, [4000, expect.closeTo(61_000, -4), 1000]])
  })

  it("returns the response that is left when there is no further attempt, and its body can be read", async () => {
    const { url } = await startServer((_, response) => response.writeHead(503).end("busy"))
    const response = await retry(() => fetch(url), EVERY_SECOND, simulatedTime())
    expect([response.status, await response.text()]).toEqual([503, "busy"])
  })

  it("frees the connection of a response that it does not return, however long its body", async () => {
    const closed: Array<Promise<unknown>> = []
    const { url } = await startServer((_, response) => {
      response.writeHead(503).write("without an end")
      closed.push(once(response, "close"))
    })
    // Each wait lasts until the server has lost the connection of the attempt before it.
    const response = await retry(() => fetch(url), EVERY_SECOND, { ...simulatedTime(), sleep: () => closed.at(-1)! })
    await response.body?.cancel()
    expect(await Promise.all(closed)).toHaveLength(4)
  })

  it("does not mind a body that is being read, or is gone", async () => {
    const locked = () => {
      const response = new Response("busy", { status: 503 })
      response.body!.getReader()
      return response
    }
    const empty = () => new Response(null, { status: 503 })
    const fails = () => ({ status: 503, headers: {}, body: { cancel: () => Promise.reject(new Error("gone")) } })
    for (const task of [locked, empty, fails] as const) {
      expect(await retry<{ status: number }>(task, EVERY_SECOND, simulatedTime())).toMatchObject({ status: 503 })
    }
  })
})
