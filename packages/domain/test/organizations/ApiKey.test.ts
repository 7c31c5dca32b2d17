import { crc32 } from "node:zlib"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { apiKeyText, isApiKeyText } from "../../src/organizations/ApiKey.ts"

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const random = fc.stringMatching(/^[0-9A-Za-z]{30}$/)
const replace = (text: string, at: number, character: string) => text.slice(0, at) + character + text.slice(at + 1)

describe("apiKeyText", () => {
  it("is the mode's prefix, the 30 random characters and six of checksum", () => {
    const thirty = "0123456789ABCDEFGHIJabcdefghij"
    expect(apiKeyText(true, thirty)).toMatch(new RegExp(`^orp_live_${thirty}_[0-9A-Za-z]{6}$`))
    expect(apiKeyText(false, thirty)).toMatch(new RegExp(`^orp_test_${thirty}_[0-9A-Za-z]{6}$`))
  })

  it("ends in the CRC-32 of the random characters, in base62 with the most significant digit first", () => {
    // cbf43926 is the standard check value of CRC-32 (ISO-HDLC).
    expect(apiKeyText(true, "123456789").slice(-6)).toBe(
      [5, 4, 3, 2, 1, 0].map((power) => ALPHABET[Math.floor(0xcbf43926 / 62 ** power) % 62]).join(""),
    )
    fc.assert(
      fc.property(random, (thirty) => {
        const value = [...apiKeyText(true, thirty).slice(-6)].reduce(
          (sum, digit) => sum * 62 + ALPHABET.indexOf(digit),
          0,
        )
        expect(value).toBe(crc32(thirty))
      }),
    )
  })
})

describe("isApiKeyText", () => {
  it("recognizes every key of its mode and none of the other mode", () => {
    fc.assert(
      fc.property(random, fc.boolean(), (thirty, livemode) => {
        const text = apiKeyText(livemode, thirty)
        expect(isApiKeyText(text, livemode)).toBe(true)
        expect(isApiKeyText(text, !livemode)).toBe(false)
      }),
    )
  })

  it("rejects a key with one character changed", () => {
    fc.assert(
      fc.property(random, fc.nat(45), fc.constantFrom(...ALPHABET, "_", "-", " "), (thirty, at, character) => {
        const text = apiKeyText(true, thirty)
        fc.pre(text[at] !== character)
        expect(isApiKeyText(replace(text, at, character), true)).toBe(false)
      }),
    )
  })

  it("rejects keys that are longer, shorter or padded, and any other text", () => {
    const text = apiKeyText(true, "0123456789ABCDEFGHIJabcdefghij")
    for (const other of [
      "",
      text.slice(1),
      text.slice(0, -1),
      `${text}0`,
      ` ${text}`,
      `${text}\n`,
      text.toUpperCase(),
    ]) {
      expect(isApiKeyText(other, true)).toBe(false)
    }
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (other) => {
        expect(isApiKeyText(other, true)).toBe(false)
      }),
    )
  })
})
