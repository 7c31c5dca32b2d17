import { promisify } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { addressGuard, assertPublic, BlockedAddress } from "@outreach/webhooks/addressGuard"

const guard = (addresses: ReadonlyArray<string>, allowPrivateAddresses = false) =>
  promisify(
    addressGuard(async () => addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })), {
      allowPrivateAddresses,
    }),
  )

describe("addressGuard", () => {
  it("rejects a name that resolves to this machine, unless private addresses are allowed", async () => {
    await expect(guard(["127.0.0.1"])("a.test", { all: true })).rejects.toMatchObject({ code: "BLOCKED_ADDRESS" })
    expect(await guard(["127.0.0.1"], true)("a.test", { all: true })).toEqual([{ address: "127.0.0.1", family: 4 }])
  })

  it.each([
    ["93.184.216.34", "10.0.0.1"],
    ["10.0.0.1", "93.184.216.34"],
    ["93.184.216.34", "::1"],
    ["2606:2800:220:1::1", "169.254.169.254"],
  ])("refuses a name that leads to %s and to %s, one of which is private", (...addresses) => {
    expect(() => assertPublic(addresses.map((address) => ({ address })))).toThrow(BlockedAddress)
    expect(() => assertPublic([{ address: "93.184.216.34" }, { address: "2606:2800:220:1::1" }])).not.toThrow()
  })

  it("returns one address or all, depending on the socket's options", async () => {
    const look = guard(["93.184.216.34", "2606:2800:220:1::1"])
    expect(await look("a.test", { all: true })).toEqual([
      { address: "93.184.216.34", family: 4 },
      { address: "2606:2800:220:1::1", family: 6 },
    ])
    expect(await look("a.test", {})).toBe("93.184.216.34")
  })
})
