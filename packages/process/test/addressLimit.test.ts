import { describe, expect, it } from "vitest"
import { addressLimit } from "../src/addressLimit.ts"

const at = (address: string) => () => address
const fail = (limit: ReturnType<typeof addressLimit>, address: string, times: number, now = 0) => {
  for (let i = 0; i < times; i++) limit.countFailure(address, now)
}

describe("a limit on failures by address", () => {
  it("blocks an address after too many failures in a clock minute, and returns the remaining wait", () => {
    const limit = addressLimit(3)
    fail(limit, "192.0.2.1", 2, 61)
    expect(limit.wait(at("192.0.2.1"), 61)).toBeUndefined()
    fail(limit, "192.0.2.1", 1, 61)
    expect(limit.wait(at("192.0.2.1"), 61.5)).toBe(59)
    expect(limit.wait(at("192.0.2.1"), 119.9)).toBe(1)
    expect(limit.wait(at("192.0.2.2"), 61)).toBeUndefined()
    expect(limit.wait(at("192.0.2.1"), 120)).toBeUndefined()
  })

  it("takes the addresses of one IPv6 network, and the two ways to write an IPv4 address, as one client", () => {
    const limit = addressLimit(1)
    fail(limit, "2001:db8:1:2::1", 1)
    expect(limit.wait(at("2001:db8:1:2:ffff::9"), 0)).toBe(60)
    expect(limit.wait(at("2001:db8:1:3::1"), 0)).toBeUndefined()
    fail(limit, "::ffff:192.0.2.1", 1)
    expect(limit.wait(at("192.0.2.1"), 0)).toBe(60)
  })

  it("takes all clients without a valid address as one", () => {
    const limit = addressLimit(1)
    fail(limit, "", 1)
    expect(limit.wait(at("unknown"), 0)).toBe(60)
  })

  it("can group addresses by a custom function", () => {
    const limit = addressLimit(1, (text) => text.slice(0, 1))
    fail(limit, "ab", 1)
    expect(["ac", "b"].map((text) => limit.wait(at(text), 0))).toEqual([60, undefined])
  })

  it("doesn't read the address while there are no failures", () => {
    const limit = addressLimit(1)
    const never = () => {
      throw new Error("asked")
    }
    expect(limit.wait(never, 0)).toBeUndefined()
    fail(limit, "192.0.2.1", 1, 0)
    expect(limit.wait(never, 60)).toBeUndefined()
  })

  it("forgets the oldest address when there are more than it can remember", () => {
    const limit = addressLimit(1)
    const address = (i: number) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`
    for (let i = 0; i <= 100_000; i++) limit.countFailure(address(i), 0)
    expect(limit.wait(at(address(0)), 0)).toBeUndefined()
    expect(limit.wait(at(address(1)), 0)).toBe(60)
    expect(limit.wait(at(address(100_000)), 0)).toBe(60)
  })
})
