import { describe, expect, it } from "vitest"
import { startConsole } from "../startConsole.ts"

const test = startConsole({ UNAUTHENTICATED_LIMIT: "5", TRUST_PROXY: "loopback" })

/** Opens a path as a client of an address, which a trusted proxy reports. */
const from = (address: string, path: string, cookie = "") =>
  fetch(`${test().url}${path}`, { headers: { "x-forwarded-for": address, cookie }, redirect: "manual" })

/** Makes more failures than the limit from an address; a minute may end while it does. */
const exhaust = async (address: string, path: string, cookie?: string) => {
  for (let i = 0; i < 12; i++) {
    const response = await from(address, path, cookie)
    if (response.status === 429) return response
  }
  throw new Error("was never refused")
}

describe("an address that fails too often in a minute", () => {
  it("receives 429 with the seconds to wait, and other addresses don't", async () => {
    const refused = await exhaust("192.0.2.1", `/sign-in/${"a".repeat(43)}`)
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0)
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(60)
    expect(await refused.text()).toContain("Try again in")
    expect((await from("192.0.2.2", `/sign-in/${"a".repeat(43)}`)).status).toBe(410)
  })

  it("is also rejected after requests with unknown sessions", async () => {
    await exhaust("192.0.2.3", "/campaigns", `session=${"a".repeat(43)}`)
  })

  it("does not keep an operator at the same address from a session that was good before", async () => {
    const operator = await test().as("viewer")
    const before = await from("192.0.2.4", "/campaigns", operator.cookie)
    await exhaust("192.0.2.4", `/sign-in/${"a".repeat(43)}`)
    expect((await from("192.0.2.4", "/campaigns", operator.cookie)).status).toBe(before.status)
    expect(before.status).not.toBe(429)
  })
})
