import { Cause } from "effect"
import { describe, expect, it } from "vitest"
import { describeCause } from "../src/describeCause.ts"

describe("describeCause", () => {
  it("names an error and where it was thrown, without its words", () => {
    const [described] = describeCause(Cause.die(new TypeError("cannot mail dana@clinic.test")))
    expect(described).toMatch(/^TypeError\n\s+at .*describeCause\.test\.ts/)
    expect(described).not.toContain("dana")
  })

  it("includes the message of a database failure, which contains no data", () => {
    const failure = Object.assign(new Error("ApiKeyRepository.authenticateKey failed"), { name: "DatabaseFailure" })
    expect(describeCause(Cause.fail(failure))[0]).toContain("DatabaseFailure: ApiKeyRepository.authenticateKey failed")
  })

  it("returns no text of a value that is not an error", () => {
    expect(describeCause(Cause.combine(Cause.die("dana@clinic.test"), Cause.interrupt(1)))).toEqual([
      "unknown",
      "interrupted",
    ])
  })
})
