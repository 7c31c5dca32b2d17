import { keyOfAddress } from "@outreach/rate-limit"
import fc from "fast-check"
import { expect, it } from "vitest"

it.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::FFFF:c000:0201", "192.0.2.1"],
  ["0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2ff::1", "2001:db8:1:200::/56"],
  ["2001:0DB8:1:02ff:ffff:0:0:9", "2001:db8:1:200::/56"],
  ["2001:db8::9", "2001:db8:0:0::/56"],
  ["2001:db8:1:2:3:4:5::", "2001:db8:1:0::/56"],
  ["fe80::1%eth0", "fe80:0:0:0::/56"],
  ["::1", "0:0:0:0::/56"],
  ["::", "0:0:0:0::/56"],
  ["64:ff9b::192.0.2.1", "64:ff9b:0:0::/56"],
])("returns the key of %s", (address, key) => {
  expect(keyOfAddress(address)).toBe(key)
})

it.each([
  ...[undefined, null, "", "unknown", "192.0.2", "192.0.2.256", "192.0.2.01", "192.0.2.1.5", "1:192.0.2.1"],
  ...["192.0.2.1:443", "[2001:db8::1]:443", "[::1]", "2001:db8:1:2", "2001:db8:xyz::1", "1:2:3:4:5:6:7:8:9", "1::2::3"],
  ...[":::", "1:2:3:4:5:6:7:8::", "12345::", "fe80::1%", "192.0.2.1, 192.0.2.2", "::1 ", "0".repeat(100_000)],
])("throws for %j, which isn't an address", (text) => {
  expect(() => keyOfAddress(text)).toThrow("address is not an IPv4 or IPv6 address: pass it without a port")
})

it("returns one key for exactly the addresses of an IPv6 network of any length, in any notation", () => {
  const canonical = (address: string) => new URL(`http://[${address}]/`).hostname
  fc.assert(
    fc.property(fc.ipV6(), fc.integer({ min: 1, max: 128 }), fc.nat(127), (address, ipv6Prefix, bit) => {
      const [whole] = keyOfAddress(address, { ipv6Prefix: 128 }).split("/") as [string]
      fc.pre(whole.includes(":"))
      expect(canonical(whole)).toBe(canonical(address))
      const groups = whole.split(":").map((group) => Number.parseInt(group, 16))
      groups[bit >> 4]! ^= 0x8000 >> (bit & 15)
      const neighbor = groups.map((group) => group.toString(16)).join(":")
      fc.pre(keyOfAddress(neighbor).includes(":"))
      const isSame = keyOfAddress(neighbor, { ipv6Prefix }) === keyOfAddress(address, { ipv6Prefix })
      expect(isSame).toBe(bit >= ipv6Prefix)
    }),
  )
})

it.each([0, 129, 56.5, Number.NaN])("rejects a prefix of %d bits", (ipv6Prefix) => {
  expect(() => keyOfAddress("::1", { ipv6Prefix })).toThrow("ipv6Prefix must be a whole number from 1 to 128")
})
