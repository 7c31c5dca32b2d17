import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { textSchema } from "@outreach/domain/textSchema"
import { ConfigProvider, Effect } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { secretSetting, setting } from "../src/setting.ts"

const at = (text: string) =>
  Effect.provideService(
    setting(
      "TEST_AGE",
      textSchema("a number of years", (given) => {
        if (given === "fault") throw new TypeError("a fault of the parser")
        if (Number(given) < 0) throw new RangeError("nobody is younger than 0")
        return /^\d+$/.test(given) ? Number(given) : undefined
      }),
      { about: "" },
    ),
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromEnv({ env: { TEST_AGE: text } }),
  )
const sentenceAt = (text: string) => {
  const error = Effect.runSync(Effect.flip(at(text)))
  return (error.cause as Error).message
}

describe("setting", () => {
  it("returns the parsed text", () => {
    expect(Effect.runSync(at("44"))).toBe(44)
  })

  it("reports the reader's reason for rejecting a value, and describes a valid one", () => {
    expect(sentenceAt("-1")).toBe("TEST_AGE is malformed: nobody is younger than 0. It must be a number of years.")
    expect(sentenceAt("old")).toBe("TEST_AGE is malformed. It must be a number of years.")
    expect(sentenceAt("")).toBe("TEST_AGE is not set. It must be a number of years.")
  })

  it("takes any other error of the reader for a fault of the program", () => {
    expect(() => Effect.runSync(at("fault"))).toThrow("a fault of the parser")
  })
})

describe("secretSetting", () => {
  const folder = mkdtempSync(join(tmpdir(), "secret-"))
  afterAll(() => rmSync(folder, { recursive: true }))
  const file = (content: string) => {
    const path = join(folder, String(content.length))
    writeFileSync(path, content)
    return path
  }
  const read = (env: Record<string, string>) =>
    Effect.provideService(
      secretSetting(
        "TEST_PIN",
        textSchema("four digits", (given) => (/^\d{4}$/.test(given) ? given : undefined)),
        { about: "" },
      ),
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({ env }),
    )
  const sentence = (env: Record<string, string>) => (Effect.runSync(Effect.flip(read(env))).cause as Error).message

  it("is read from the environment, or from the file that the setting with _FILE names", () => {
    expect(Effect.runSync(read({ TEST_PIN: "1234" }))).toBe("1234")
    expect(Effect.runSync(read({ TEST_PIN: "", TEST_PIN_FILE: file("5678") }))).toBe("5678")
    expect(Effect.runSync(read({ TEST_PIN_FILE: file("5678\n") }))).toBe("5678")
    expect(Effect.runSync(read({ TEST_PIN_FILE: file("5678\r\n") }))).toBe("5678")
  })

  it("reports which of the two settings is wrong, without the secret or the path", () => {
    const malformed = "The content of TEST_PIN_FILE is malformed. It must be four digits."
    expect(sentence({})).toBe("TEST_PIN is not set. It must be four digits.")
    expect(sentence({ TEST_PIN: "1234", TEST_PIN_FILE: file("5678") })).toBe(
      "TEST_PIN and TEST_PIN_FILE are both set; set one of them.",
    )
    expect(sentence({ TEST_PIN_FILE: file("56789") })).toBe(malformed)
    for (const content of ["", "\n"])
      expect(sentence({ TEST_PIN_FILE: file(content) })).toBe(
        "The content of TEST_PIN_FILE is empty. It must be four digits.",
      )
    expect(sentence({ TEST_PIN_FILE: file("5678\n\n") })).toBe(malformed)
    expect(sentence({ TEST_PIN_FILE: join(folder, "none") })).toBe("The file of TEST_PIN_FILE does not exist.")
    for (const path of [folder, "/dev/zero"])
      expect(sentence({ TEST_PIN_FILE: path })).toBe("The file of TEST_PIN_FILE is not a regular file.")
    expect(sentence({ TEST_PIN_FILE: file("5".repeat(65_537)) })).toBe("The file of TEST_PIN_FILE exceeds 64 KiB.")
  })
})
