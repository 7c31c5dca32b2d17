import { networkOf } from "@outreach/rate-limit"
import { expect, it } from "vitest"

it.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2::1", "2001:db8:1:2"],
  ["2001:0DB8:1:2:ffff:0:0:9", "2001:db8:1:2"],
  ["2001:db8::9", "2001:db8:0:0"],
  ["2001:db8:1:2:3:4:5::", "2001:db8:1:2"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  ["::1", "0:0:0:0"],
  ["64:ff9b::192.0.2.1", "64:ff9b:0:0"],
])("returns the network of %s", (address, network) => {
  expect(networkOf(address)).toBe(network)
})

it.each(["", "unknown", "192.0.2.1:443", "2001:db8:1:2", "2001:db8:xyz::1", "1:2:3:4:5:6:7:8:9"])(
  "returns an empty text for %j, which isn't an address",
  (text) => {
    expect(networkOf(text)).toBe("")
  },
)
