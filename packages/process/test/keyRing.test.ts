import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { KeyRing } from "@outreach/domain/KeyRing"
import { ConfigProvider, Effect, Redacted } from "effect"
import fc from "fast-check"
import { afterAll, describe, expect, it } from "vitest"
import { secretsKey } from "../src/settings.ts"

const folder = mkdtempSync(join(tmpdir(), "key-ring-"))
afterAll(() => rmSync(folder, { recursive: true }))

/** Reads `SECRETS_KEY`, or `SECRETS_KEY_FILE`. Returns the sentence of a failure. */
const read = (env: Record<string, string>): KeyRing | string =>
  secretsKey.pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
    Effect.match({ onSuccess: (value) => value, onFailure: (error) => (error.cause as Error).message }),
    Effect.runSync,
  )
const readText = (text: string) => read({ SECRETS_KEY: text })
const readFile = (content: string) => {
  const file = join(folder, "keys")
  writeFileSync(file, content)
  return read({ SECRETS_KEY_FILE: file })
}
const plain = (ring: KeyRing | string) =>
  typeof ring === "string" ? ring : ring.map(({ id, key }) => ({ id, base64: encode(Redacted.value(key)) }))
const encode = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64")

const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
const entries = fc.uniqueArray(
  fc.record({ id: fc.stringMatching(/^[A-Za-z0-9._-]{1,32}$/), base64: bytes.map(encode) }),
  { minLength: 1, maxLength: 8, selector: ({ id }) => id, comparator: "SameValue" },
)
const rings = entries.filter((ring) => new Set(ring.map(({ base64 }) => base64)).size === ring.length)
const joinRing = (ring: ReadonlyArray<{ readonly id: string; readonly base64: string }>, separator: string) =>
  ring.map(({ id, base64 }) => `${id}:${base64}`).join(separator)

const [A, B] = [encode(Buffer.alloc(32, 7)), encode(Buffer.alloc(32, 8))]

describe("a ring of keys", () => {
  it("is read in its order, from the environment and from a file, with commas and with line breaks", () => {
    fc.assert(
      fc.property(rings, fc.constantFrom(",", ", ", "\n", "\r\n"), (ring, separator) => {
        const text = joinRing(ring, separator)
        expect(plain(readText(text))).toEqual(ring)
        expect(plain(readFile(text))).toEqual(ring)
        expect(plain(readFile(`${text}\n`))).toEqual(ring)
      }),
    )
  })

  it("assigns the id k1 to a key without an id, at any position", () => {
    expect(plain(readText(A))).toEqual([{ id: "k1", base64: A }])
    expect(plain(readFile(`${A}\n`))).toEqual([{ id: "k1", base64: A }])
    expect(plain(readText(`k1:${A}`))).toEqual(plain(readText(A)))
    expect(plain(readText(`k2:${B},${A}`))).toEqual([
      { id: "k2", base64: B },
      { id: "k1", base64: A },
    ])
  })

  it("derives the mark of a key from the key, not from its id", () => {
    const marks = (text: string) => (readText(text) as KeyRing).map(({ mark }) => mark)
    expect(marks(A)).toEqual([117])
    // Computed with Python's hmac: HKDF-SHA256 without salt. Another mark would hide the key of what is stored.
    expect(marks(`k2:${A},old:${B},k1:${encode(Buffer.alloc(32, 9))}`)).toEqual([117, 101, 103])
    expect(marks(`renamed:${A}`)).toEqual([117])
  })

  it("stays out of sight", () => {
    const ring = readText(`k2:${B},k1:${A}`)
    for (const secret of [A, B]) expect(`${JSON.stringify(ring)}${String(ring)}`).not.toContain(secret.slice(0, 8))
  })

  it.each([
    ["two keys of one id", `k2:${A},k2:${B}`, "keys 1 and 2 have the same id"],
    ["two keys without an id", `${A},${B}`, "keys 1 and 2 have the same id"],
    ["one key under two ids", `k3:${A},k2:${B},k1:${A}`, "keys 1 and 3 are the same key"],
    ["a short key", `k2:${A},k1:${encode(Buffer.alloc(31))}`, "key 2 of 2 is not valid"],
    ["a key without text", `k2:,k1:${A}`, "key 1 of 2 is not valid"],
    ["an empty place", `k2:${A},,k1:${B}`, "key 2 of 3 is not valid"],
    ["an id of other characters", `k2:${A},k 1:${B}`, "key 2 of 2 is not valid"],
    ["an id of no character", `k2:${A},:${B}`, "key 2 of 2 is not valid"],
    ["a long id", `k2:${A},${"k".repeat(33)}:${B}`, "key 2 of 2 is not valid"],
    ["nothing but commas", ",", "key 1 of 2 is not valid"],
    [
      "nine keys",
      joinRing(
        Array.from({ length: 9 }, (_, i) => ({ id: `k${i}`, base64: encode(Buffer.alloc(32, i)) })),
        ",",
      ),
      "it has more than 8 keys",
    ],
  ])("is refused with %s, in a sentence that names the setting", (_, text, reason) => {
    const sentence = (source: string) => `${source} is malformed: ${reason}. It must be `
    expect(readText(text)).toContain(sentence("SECRETS_KEY"))
    expect(readFile(text)).toContain(sentence("The content of SECRETS_KEY_FILE"))
  })

  it("is rejected if it is invalid, without showing any part of its keys", () => {
    fc.assert(
      fc.property(rings, fc.nat(), fc.constantFrom("", "!", ":", "=", "A"), (ring, place, broken) => {
        const altered = ring.map(({ id, base64 }, i) =>
          i === place % ring.length ? { id, base64: base64.slice(0, -2) + broken } : { id, base64 },
        )
        const sentence = readText(joinRing(altered, ","))
        expect(sentence).toMatch(/^SECRETS_KEY is malformed/)
        for (const { base64 } of ring) expect(sentence).not.toContain(base64.slice(0, 8))
      }),
    )
  })

  it("is rejected if the setting is empty", () => {
    for (const empty of [read({}), readText("")]) expect(empty).toMatch(/^SECRETS_KEY is not set/)
    expect(readFile("")).toMatch(/^The content of SECRETS_KEY_FILE is empty/)
  })
})
