import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { isPublicAddress } from "../../src/deliveries/isPublicAddress.ts"

/** First and last address of each forbidden range, and the adjacent addresses if they are public. */
const RANGES = [
  ["0.0.0.0", "0.255.255.255", undefined, "1.0.0.0"],
  ["10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"],
  ["100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"],
  ["127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"],
  ["168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"],
  ["169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"],
  ["172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"],
  ["192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"],
  ["192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"],
  ["192.31.196.0", "192.31.196.255", "192.31.195.255", "192.31.197.0"],
  ["192.52.193.0", "192.52.193.255", "192.52.192.255", "192.52.194.0"],
  ["192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"],
  ["192.175.48.0", "192.175.48.255", "192.175.47.255", "192.175.49.0"],
  ["192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"],
  ["198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"],
  ["198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"],
  ["203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"],
  ["224.0.0.0", "255.255.255.255", "223.255.255.255", undefined],
  ["::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", undefined, "2000::"],
  ["2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"],
  ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff::", "2001:db9::"],
  ["2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff::", "2003::"],
  ["2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", "2620:4f:7fff::", "2620:4f:8001::"],
  ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe:ffff::", "3fff:1000::"],
  ["4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:ffff:ffff::", undefined],
] as const

/** Notations used for attacks on other services; the addresses themselves are in `RANGES`. */
const NAMED = {
  "link-local with a zone": "fe80::1%lo",
  "IPv4-mapped metadata in hex": "::ffff:a9fe:a9fe",
  "6to4 of a private address": "2002:c0a8:0101::1",
  "no address": "partner.test",
  nothing: "",
}

describe("isPublicAddress", () => {
  it.each(RANGES)("rejects %s to %s, and accepts the neighbours", (first, last, before, after) => {
    expect([first, last].map(isPublicAddress)).toEqual([false, false])
    expect([before, after].filter((address) => address !== undefined).every(isPublicAddress)).toBe(true)
  })

  it.each(Object.entries(NAMED))("rejects %s, %s", (_, address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  it.each(["1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e"])(
    "accepts %s",
    (address) => {
      expect(isPublicAddress(address)).toBe(true)
    },
  )

  it("rejects every IPv4 address that is wrapped in an IPv6 address", () => {
    const wraps = ["::ffff:", "::", "64:ff9b::", "64:ff9b:1::", "::ffff:0:"]
    fc.assert(
      fc.property(fc.constantFrom(...wraps), fc.ipV4(), (prefix, address) => !isPublicAddress(prefix + address)),
    )
  })

  it("judges an address the same in every spelling that a URL accepts", () => {
    const spellings = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)).chain(([a, b, c, d]) => {
      const whole = ((a * 256 + b) * 256 + c) * 256 + d
      return fc.record({
        plain: fc.constant(`${a}.${b}.${c}.${d}`),
        odd: fc.constantFrom(
          `${whole}`,
          `0x${whole.toString(16)}`,
          `0${whole.toString(8)}`,
          `${a}.${b}.${c * 256 + d}`,
          `0x${a.toString(16)}.0${b.toString(8)}.${c}.${d}`,
          `${a}.${b}.${c}.${d}.`,
        ),
      })
    })
    fc.assert(
      fc.property(spellings, ({ plain, odd }) => {
        const { hostname } = new URL(`https://${odd}/`)
        expect(hostname).toBe(plain)
        return isPublicAddress(hostname) === isPublicAddress(plain)
      }),
    )
  })
})
