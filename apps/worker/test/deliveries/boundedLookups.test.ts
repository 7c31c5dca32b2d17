import { describe, expect, it } from "@effect/vitest"
import type { NameAnswer } from "@outreach/webhooks/askName"
import { boundedLookups } from "@outreach/webhooks/boundedLookups"
import fc from "fast-check"
import { afterEach, beforeEach, vi } from "vitest"

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Look-ups with queries answered by the test. */
const open = () => {
  const lookUp = boundedLookups()
  interface Question {
    readonly resolve: (answer: NameAnswer) => void
    readonly reject: (error: Error) => void
  }
  const questions = new Map<string, Question>()
  const asked: string[] = []
  const end = async (key: string, act: (question: Question) => void) => {
    const question = questions.get(key)!
    questions.delete(key)
    act(question)
    await vi.advanceTimersByTimeAsync(0)
  }
  return {
    /** Queries in flight. */
    questions,
    asked,
    look: (key: string, organization = "org_1") => {
      const outcome: { value: string } = { value: "pending" }
      const found = lookUp(key, organization, () => {
        asked.push(key)
        return new Promise<NameAnswer>((resolve, reject) => questions.set(key, { resolve, reject }))
      })
      found.then(
        ([record]) => {
          outcome.value = record!.address
        },
        (error) => {
          outcome.value = error.code ?? error.message
        },
      )
      return outcome
    },
    answer: (key: string, ttlSeconds = 0) =>
      end(key, ({ resolve }) => resolve({ records: [{ address: `address of ${key}`, family: 4 }], ttlSeconds })),
    fail: (key: string) => end(key, ({ reject }) => reject(new Error("SERVFAIL"))),
  }
}

const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1000)

describe("a look-up", () => {
  it("sends one query at a time for a name, even for several organizations", async () => {
    const { look, answer, asked } = open()
    const outcomes = [look("a"), look("a"), look("a", "org_2")]
    expect(asked).toEqual(["a"])
    await answer("a")
    expect(outcomes.map(({ value }) => value)).toEqual(Array(3).fill("address of a"))
  })

  it.each([
    [0, 1],
    [60, 60],
    [86_400, 300],
  ])("keeps an answer with a TTL of %i s for %i s", async (ttl, kept) => {
    const { look, answer, asked } = open()
    look("a")
    await answer("a", ttl)
    await seconds(kept - 0.001)
    look("a")
    expect(asked).toHaveLength(1)
    await seconds(0.001)
    look("a")
    expect(asked).toHaveLength(2)
  })

  it("keeps a failure for 10, 20, then 30 s, and for 10 s again after a success", async () => {
    const { look, answer, fail, asked } = open()
    const keptFor = async (kept: number) => {
      const before = asked.length
      await seconds(kept - 0.001)
      const outcome = look("a")
      await seconds(0.001)
      expect([outcome.value, asked.length]).toEqual(["SERVFAIL", before])
      look("a")
      expect(asked).toHaveLength(before + 1)
    }
    look("a")
    for (const kept of [10, 20, 30, 30]) {
      await fail("a")
      await keptFor(kept)
    }
    await answer("a")
    await seconds(1)
    look("a")
    await fail("a")
    await keptFor(10)
  })

  it("caches 10,000 names, and queries the evicted name again", async () => {
    const { look, answer, asked } = open()
    for (let i = 0; i <= 10_000; i++) {
      look(`name ${i}`)
      await answer(`name ${i}`, 300)
    }
    look("name 10000")
    look("name 1")
    expect(asked).toHaveLength(10_001)
    look("name 0")
    expect(asked).toHaveLength(10_002)
  })
})

describe("the bounds", () => {
  it("let an organization look up six new and two known names at once, without delaying another organization", async () => {
    const { look, answer, questions } = open()
    for (const key of ["good 1", "good 2"]) {
      look(key)
      await answer(key)
    }
    await seconds(1)
    for (let i = 0; i < 20; i++) look(`dead ${i}`)
    expect(questions.size).toBe(6)
    look("good 1")
    look("good 2")
    expect([...questions.keys()].slice(6)).toEqual(["good 1", "good 2"])
    look("of another", "org_2")
    expect(questions.has("of another")).toBe(true)
  })

  it("tell a name that had no turn within a second from one that does not resolve", async () => {
    const { look, answer, fail, questions, asked } = open()
    const outcomes = Array.from({ length: 7 }, (_, i) => look(`name ${i}`))
    await seconds(1)
    expect(outcomes.at(-1)!.value).toBe("NAME_NOT_ASKED")
    // It isn't cached.
    expect(asked).toHaveLength(6)
    await fail("name 0")
    expect(outcomes[0]!.value).toBe("SERVFAIL")
    const again = look("name 6")
    expect(questions.has("name 6")).toBe(true)
    await answer("name 6")
    expect(again.value).toBe("address of name 6")
  })

  it("let organizations take turns", async () => {
    const { look, fail, questions } = open()
    // All slots for new names are used, six by each of eight organizations.
    for (let n = 0; n < 8; n++) for (let i = 0; i < 6; i++) look(`${n} ${i}`, `org_${n}`)
    expect(questions.size).toBe(48)
    for (const key of ["a 1", "a 2", "a 3"]) look(key, "org_a")
    for (const key of ["b 1", "b 2"]) look(key, "org_b")
    for (let i = 0; i < 4; i++) await fail(`0 ${i}`)
    expect([...questions.keys()].slice(-4)).toEqual(["a 1", "b 1", "a 2", "b 2"])
  })

  it("are never exceeded for any sequence of look-ups and replies, and every look-up ends", async () => {
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ look: fc.integer({ max: 199, min: 0 }), of: fc.integer({ max: 11, min: 0 }) }),
      },
      fc.record({ end: fc.nat(), isFailure: fc.boolean() }),
      fc.record({ wait: fc.integer({ min: 0, max: 5000 }) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 300 }), async (steps) => {
        const { look, answer, fail, questions } = open()
        const outcomes: Array<{ readonly value: string }> = []
        const endOne = (n: number, isFailure: boolean) => {
          const key = [...questions.keys()][n % questions.size]
          return key === undefined ? undefined : isFailure ? fail(key) : answer(key)
        }
        for (const each of steps) {
          // Each name belongs to one organization here, so that queries can be counted.
          if ("look" in each) {
            outcomes.push(look(`${each.of} ${each.look}`, `org_${each.of}`))
          } else if ("wait" in each) await vi.advanceTimersByTimeAsync(each.wait)
          else await endOne(each.end, each.isFailure)
          expect(questions.size).toBeLessThanOrEqual(64)
          for (let n = 0; n < 12; n++) {
            const ofOrganization = [...questions.keys()].filter((key) => key.startsWith(`${n} `))
            expect(ofOrganization.length).toBeLessThanOrEqual(8)
          }
        }
        while (questions.size > 0) await endOne(0, false)
        await seconds(1)
        expect(outcomes.filter(({ value }) => value === "pending")).toEqual([])
        expect(questions.size).toBe(0)
      }),
    )
  })
})
