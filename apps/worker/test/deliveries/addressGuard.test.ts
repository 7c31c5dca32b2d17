import { promisify } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { addressGuard, assertPublic, BlockedAddress } from "@outreach/webhooks/addressGuard"

describe("addressGuard", () => {
  const look = promisify(addressGuard)

  it("refuses a name that leads to this machine", async () => {
    await expect(look("localhost", { all: true })).rejects.toMatchObject({ code: "BLOCKED_ADDRESS" })
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

  it("passes on that a name does not exist", async () => {
    await expect(look("partner.invalid", { all: true })).rejects.toMatchObject({
      code: expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/),
    })
  })

  it("gives one address or all, as the socket asks", async () => {
    // getaddrinfo answers an address with itself.
    expect(await look("93.184.216.34", { all: true })).toEqual([{ address: "93.184.216.34", family: 4 }])
    expect(await look("93.184.216.34", {})).toBe("93.184.216.34")
  })
})
