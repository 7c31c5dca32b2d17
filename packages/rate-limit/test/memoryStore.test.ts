import { fixedWindow, rateLimiter } from "@outreach/rate-limit"
import { memoryStore } from "@outreach/rate-limit/memory"
import { describe, expect, it } from "vitest"
import { describeStore } from "./describeStore.ts"

describeStore("memory", (now) => memoryStore({ now }))

describe("a full store in memory", () => {
  const open = (maxKeys: number) => rateLimiter(fixedWindow({ limit: 10 }), memoryStore({ now: () => 0, maxKeys }))

  it("forgets the key that was quiet for longest", async () => {
    const limiter = open(10)
    await limiter.take("quiet")
    await limiter.take("again")
    for (let i = 0; i < 8; i++) await limiter.take(`other ${i}`)
    await limiter.take("again")
    await limiter.take("one more")
    expect((await limiter.take("again", { cost: 0 })).remaining).toBe(8)
    expect((await limiter.take("quiet", { cost: 0 })).remaining).toBe(10)
  })
  it("remembers a key that has used its limit, even after many keys with less usage", async () => {
    const limiter = open(10)
    await limiter.take("heavy", { cost: 10 })
    for (let i = 0; i < 10_000; i++) await limiter.take(`other ${i}`, { cost: 5 })
    expect((await limiter.take("heavy")).allowed).toBe(false)
  })
  it("forgets it only when half of all keys have used as much after it", async () => {
    const limiter = open(10)
    await limiter.take("heavy", { cost: 10 })
    for (let i = 0; i < 4; i++) await limiter.take(`heavy ${i}`, { cost: 6 })
    for (let i = 0; i < 100; i++) await limiter.take(`light ${i}`)
    expect((await limiter.take("heavy", { cost: 0 })).remaining).toBe(0)
    for (let i = 5; i < 20; i++) await limiter.take(`heavy ${i}`, { cost: 6 })
    expect((await limiter.take("heavy", { cost: 0 })).remaining).toBe(10)
  })
  it("counts new keys even if all other keys have used their limit", async () => {
    const limiter = open(4)
    for (let i = 0; i < 100; i++) await limiter.take(`heavy ${i}`, { cost: 10 })
    for (let left = 9; left >= 0; left--) {
      for (const key of ["a", "b"]) expect((await limiter.take(key)).remaining).toBe(left)
    }
    for (const key of ["a", "b"]) expect((await limiter.take(key)).allowed).toBe(false)
  })
  it("keeps the newest key even if all older keys made repeated requests", async () => {
    for (const cost of [1, 10]) {
      const limiter = open(6)
      for (let round = 0; round < 2; round++) {
        for (let i = 0; i < 6; i++) await limiter.take(`old ${i}`, { cost: round === 0 ? cost : 0 })
      }
      await limiter.take("new", { cost })
      expect((await limiter.take("new", { cost: 0 })).remaining).toBe(10 - cost)
    }
  })
  it("doesn't store keys that only check their limit", async () => {
    const limiter = open(2)
    await limiter.take("a")
    for (let i = 0; i < 10; i++) await limiter.take(`asks ${i}`, { cost: 0 })
    expect((await limiter.take("a", { cost: 0 })).remaining).toBe(9)
  })
  it("rejects an invalid number of keys, and a clock that isn't in milliseconds", async () => {
    for (const maxKeys of [1, 2.5, Number.NaN]) {
      expect(() => memoryStore({ now: Date.now, maxKeys })).toThrow(/^maxKeys must be a whole number from 2/)
    }
    const limiter = rateLimiter(fixedWindow({ limit: 1 }), memoryStore({ now: () => Number.NaN }))
    await expect(limiter.take("a")).rejects.toThrow("now must be Unix milliseconds")
  })
})
