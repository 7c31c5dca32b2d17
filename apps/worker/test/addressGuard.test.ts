import { promisify } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { addressGuard } from "../src/addressGuard.ts"

describe("addressGuard", () => {
  const look = promisify(addressGuard)

  it("refuses a name that leads to this machine", async () => {
    await expect(look("localhost", { all: true })).rejects.toMatchObject({ code: "BLOCKED_ADDRESS" })
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
