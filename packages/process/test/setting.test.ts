import { textSchema } from "@outreach/domain/textSchema"
import { ConfigProvider, Effect } from "effect"
import { describe, expect, it } from "vitest"
import { setting } from "../src/setting.ts"

const at = (text: string) =>
  Effect.provideService(
    setting(
      "AGE",
      textSchema("a number of years", (given) => {
        if (given === "fault") throw new TypeError("a fault of the parser")
        if (Number(given) < 0) throw new RangeError("nobody is younger than 0")
        return /^\d+$/.test(given) ? Number(given) : undefined
      }),
    ),
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromEnv({ env: { AGE: text } }),
  )
const sentenceAt = (text: string) => {
  const error = Effect.runSync(Effect.flip(at(text)))
  return (error.cause as Error).message
}

describe("setting", () => {
  it("returns the parsed text", () => {
    expect(Effect.runSync(at("44"))).toBe(44)
  })

  it("says what is wrong when the reader says so, and what a good value is", () => {
    expect(sentenceAt("-1")).toBe("AGE is malformed: nobody is younger than 0. It must be a number of years.")
    expect(sentenceAt("old")).toBe("AGE is malformed. It must be a number of years.")
  })

  it("takes any other error of the reader for a fault of the program", () => {
    expect(() => Effect.runSync(at("fault"))).toThrow("a fault of the parser")
  })
})
