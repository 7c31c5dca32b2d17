import { createHmac } from "node:crypto"
import fc from "fast-check"
import { describe, expect, expectTypeOf, it } from "vitest"
import { z } from "zod"
import { CursorError, type CursorKey, cursorCodec, cursorKeyRing, type StandardSchemaV1 } from "../src/index.ts"

const Position = z.object({ updated_at: z.string(), id: z.string() })
const key = "a key of at least thirty-two bytes"
const scope = "tokens org_01 since=2026-11-21T00:00:00Z"
const position = { updated_at: "2026-11-21T02:45:29.123456Z", id: "rcp_0198a1" }
const codec = cursorCodec({ schema: Position, key, scope })

const anything: StandardSchemaV1 = { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } }
const openCodec = cursorCodec({ schema: anything, key, scope })

function thrownBy(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return error
  }
}
const refusal = (cursor: unknown, by: { decode: (cursor: string) => unknown } = codec) =>
  (thrownBy(() => by.decode(cursor as string)) as CursorError).code

describe("a position", () => {
  it("keeps the sign of a zero", () => {
    expect(openCodec.decode(openCodec.encode([-0, 0]))).toEqual([-0, 0])
  })
  it("has the same text for any order of its keys", () => {
    const { id, updated_at } = position
    expect(openCodec.encode({ id, updated_at, deep: { b: 1, a: 2 } })).toBe(
      openCodec.encode({ deep: { a: 2, b: 1 }, updated_at, id }),
    )
  })
  it("contains only the fields of the schema", () => {
    const row = { ...position, email: "someone@example.org" }
    expect(codec.encode(row)).toBe(codec.encode(position))
  })
  it("is typed by the schema, and is rejected if the schema transforms it", () => {
    expectTypeOf(codec.decode(codec.encode(position))).toEqualTypeOf<{ updated_at: string; id: string }>()
    expectTypeOf(codec.decode(undefined as string | undefined)).toEqualTypeOf<{
      updated_at: string
      id: string
    } | null>()
    expectTypeOf(codec.encode).parameter(0).toEqualTypeOf<{ updated_at: string; id: string }>()
    const transforming = z.string().transform((text) => new Date(text))
    // @ts-expect-error what it encodes is not what it decodes
    const dated = cursorCodec({ schema: transforming, key, scope })
    expect(refusal(dated.encode("2026-11-21" as never), dated)).toBe("invalid_position")
  })
  it("is not encoded if the schema rejects it", () => {
    expect(thrownBy(() => codec.encode({ id: "x" } as never))).toMatchObject({ code: "invalid_position" })
  })
  it.each([
    ["undefined", undefined],
    ["an invalid Date", { at: new Date(Number.NaN) }],
    ["a missing value", { at: undefined }],
    ["NaN", [Number.NaN]],
    ["a boxed bigint", { at: Object(1n) }],
    ["a hole", new Array(1)],
    ["a Map", new Map()],
    ["a function", () => 1],
  ])("that holds %s is refused, since JSON would alter it", (_, value) => {
    expect(thrownBy(() => openCodec.encode(value))).toMatchObject({ name: "CursorError", code: "invalid_position" })
  })
  it("of JSON, bigints and dates comes back unchanged, under any scope, from one URL-safe text, with an expiry and without", () => {
    const leaf = fc.oneof(
      fc.bigInt(),
      fc.date({ noInvalidDate: true }),
      fc.jsonValue({ maxDepth: 1 }),
      fc.string({ unit: fc.constantFrom("~", "n", "d", "1") }),
    )
    const values = fc.letrec((tie) => ({
      value: fc.oneof(
        leaf,
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(fc.string(), tie("value"), { maxKeys: 3 }),
      ),
    })).value
    fc.assert(
      fc.property(values, fc.string({ unit: "binary", minLength: 1 }), (value, anyScope) => {
        const options = { schema: anything, key, scope: anyScope }
        for (const each of [cursorCodec(options), cursorCodec({ ...options, expiresAfter: "1m", now: () => 0 })]) {
          const cursor = thrownBy(() => each.encode(value))
          if (cursor instanceof CursorError) expect(cursor.code).toBe("position_too_large")
          else {
            expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/)
            const back = each.decode(cursor as string)
            expect(back).toEqual(value)
            expect(each.encode(back)).toBe(cursor)
          }
        }
      }),
    )
  })
  it("is nested 64 levels deep at most", () => {
    const nested = (levels: number, inner: unknown): unknown => (levels === 0 ? inner : [nested(levels - 1, inner)])
    for (const inner of [1, 1n, []]) {
      expect(openCodec.decode(openCodec.encode(nested(64, inner)))).toEqual(nested(64, inner))
      expect(thrownBy(() => openCodec.encode(nested(66, inner)))).toMatchObject({ code: "invalid_position" })
    }
  })
  it("that contains itself is rejected", () => {
    const cycle: unknown[] = []
    cycle.push(cycle)
    expect(thrownBy(() => openCodec.encode(cycle))).toMatchObject({ code: "invalid_position" })
  })
  it("fits exactly up to 2,048 characters of cursor", () => {
    const longest = openCodec.encode("x".repeat(1536 - 33 - 2))
    expect(longest).toHaveLength(2048)
    expect(openCodec.decode(longest)).toHaveLength(1501)
    expect(thrownBy(() => openCodec.encode("x".repeat(1502)))).toMatchObject({ code: "position_too_large" })
  })
})

describe("a cursor", () => {
  const cursor = codec.encode(position)
  it("is rejected under another key", () => {
    expect(refusal(cursor, cursorCodec({ schema: Position, key: `${key}.`, scope }))).toBe("not_authentic")
  })
  it("is rejected under any other scope", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 1 }), (units) => {
        const other = String.fromCharCode(...units)
        fc.pre(other !== scope)
        expect(refusal(cursor, cursorCodec({ schema: Position, key, scope: other }))).toBe("not_authentic")
      }),
    )
  })
  it("is rejected under a scope that differs only in a lone surrogate", () => {
    const made = cursorCodec({ schema: anything, key, scope: "\ud800" }).encode(1)
    expect(refusal(made, cursorCodec({ schema: anything, key, scope: "\ufffd" }))).toBe("not_authentic")
  })
  it("cannot lend the end of its scope to its position", () => {
    const made = cursorCodec({ schema: anything, key, scope: 'a"' }).encode("b")
    expect(refusal(made, cursorCodec({ schema: anything, key, scope: "a" }))).toBe("not_authentic")
  })
  it("is rejected if it is truncated at any length", () => {
    for (let length = 0; length < cursor.length; length++) {
      expect(["malformed", "not_authentic"]).toContain(refusal(cursor.slice(0, length)))
    }
  })
  it("is rejected if any one character is changed", () => {
    for (let at = 0; at < cursor.length; at++) {
      for (const other of "AQgw_-9z=+ ") {
        if (other === cursor[at]) continue
        const code = refusal(cursor.slice(0, at) + other + cursor.slice(at + 1))
        expect(["malformed", "not_authentic", "unsupported_version"]).toContain(code)
      }
    }
  })
  it("is rejected if it is too long, empty or not a string", () => {
    for (const junk of ["A".repeat(2049), 1, {}, ["a"], ""]) expect(refusal(junk)).toBe("malformed")
  })
  it("is rejected in any other spelling of the same bytes", () => {
    const bytes = Buffer.from(openCodec.encode({ id: "??>>~~." }), "base64url")
    const spelling = bytes.toString("base64url")
    const loose = `${spelling.slice(0, -1)}${String.fromCharCode(spelling.charCodeAt(spelling.length - 1) + 1)}`
    expect(Buffer.from(loose, "base64url")).toEqual(bytes)
    for (const other of [loose, `${spelling}=`, `${spelling}\n`, ` ${spelling}`, bytes.toString("base64")]) {
      expect(other).not.toBe(spelling)
      expect(refusal(other, openCodec)).toBe("malformed")
    }
    expect(openCodec.decode(spelling)).toEqual({ id: "??>>~~." })
  })
  it("of another version is named as such", () => {
    for (const version of [0, 5, 255]) {
      const bytes = Buffer.from(cursor, "base64url")
      bytes[0] = version
      expect(refusal(bytes.toString("base64url"))).toBe("unsupported_version")
    }
  })
  it("is rejected if the schema no longer accepts its authentic position", () => {
    const made = openCodec.encode({ id: 7 })
    expect(refusal(made)).toBe("invalid_position")
  })
  it("that is not there is no position", () => {
    expect(codec.decode(undefined)).toBeNull()
    expect(codec.decode(null)).toBeNull()
  })
  it("is made as it always was: of version, id, MAC and JSON", () => {
    const macOf = (context: string, payload: string) =>
      createHmac("sha256", key)
        .update(`${context}.${JSON.stringify(scope)}`)
        .update(payload)
        .digest()
    const json = '{"id":"rcp_0198a1","updated_at":"2026-11-21T02:45:29.123456Z"}'
    const join = (head: number[], context: string, payload: string) =>
      Buffer.concat([Buffer.from(head), macOf(context, payload), Buffer.from(payload)]).toString("base64url")
    expect(codec.encode(position)).toBe(join([1], "cursor.1", json))
    const ring = cursorKeyRing([{ id: 7, key }])
    expect(cursorCodec({ schema: Position, key: ring, scope }).encode(position)).toBe(join([2, 7], "cursor.2.7", json))
    const typed = '[{"at":"~d0","big":"~n-12","text":"~~n"}]'
    expect(openCodec.encode({ text: "~n", big: -12n, at: new Date(0) })).toBe(join([3], "cursor.3", typed))
    const expiring = cursorCodec({
      schema: Position,
      key: ring,
      scope,
      expiresAfter: "1d",
      now: () => 1_763_693_129_987,
    })
    expect(expiring.encode(position)).toBe(join([4, 7], "cursor.4.7", `[${json},1763693129]`))
  })
  it("cannot be read as another version with the same position", () => {
    for (const made of [openCodec.encode([{ id: "x" }]), openCodec.encode({ at: 1n })]) {
      const bytes = Buffer.from(made, "base64url")
      bytes[0] = bytes[0]! ^ 2
      expect(refusal(bytes.toString("base64url"), openCodec)).toBe("not_authentic")
    }
  })
  it("made of any string is rejected with a CursorError", () => {
    const base64url = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from([1, ...bytes]).toString("base64url"))
    const units = fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes))
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), units, base64url), (junk) => {
        expect(thrownBy(() => codec.decode(junk))).toBeInstanceOf(CursorError)
      }),
    )
  })
  it("with an authentic payload that is not JSON is rejected", () => {
    const payload = Buffer.from("{")
    const mac = createHmac("sha256", key)
      .update(`cursor.1.${JSON.stringify(scope)}`)
      .update(payload)
      .digest()
    const made = Buffer.concat([Buffer.of(1), mac, payload]).toString("base64url")
    expect(refusal(made)).toBe("invalid_position")
  })
})

describe("an expiry", () => {
  const at = (now: number, expiresAfter: "90s" | "2m" | "3h" | "1d" = "90s") =>
    cursorCodec({ schema: Position, key, scope, expiresAfter, now: () => now })
  const DAY = 86_400_000
  const cursor = at(DAY).encode(position)

  it("ends a cursor after its time, and not before", () => {
    for (const now of [DAY, DAY + 90_999]) expect(at(now).decode(cursor)).toEqual(position)
    for (const now of [DAY + 91_000, 10 * DAY]) expect(refusal(cursor, at(now))).toBe("expired")
  })
  it("is the reader's: a longer one reads on, and a codec without one reads all", () => {
    expect(at(DAY + 120_000, "2m").decode(cursor)).toEqual(position)
    expect(at(DAY + 3 * 3_600_000, "3h").decode(cursor)).toEqual(position)
    expect(at(2 * DAY, "1d").decode(cursor)).toEqual(position)
    expect(codec.decode(cursor)).toEqual(position)
  })
  it("rejects a cursor without a creation time", () => {
    expect(refusal(codec.encode(position), at(0))).toBe("expired")
    expect(refusal(openCodec.encode({ at: 1n }), at(0))).toBe("expired")
  })
  it("rejects a cursor from further in the future than its lifetime", () => {
    expect(at(DAY - 90_000).decode(cursor)).toEqual(position)
    expect(refusal(cursor, at(DAY - 91_000))).toBe("expired")
  })
  it("prevents reading and making cursors with a clock that returns NaN", () => {
    expect(refusal(cursor, at(Number.NaN))).toBe("expired")
    expect(thrownBy(() => at(Number.NaN).encode(position))).toBeInstanceOf(CursorError)
  })
  it.each([
    ...["", "0s", "1.5h", "-1d", "1w", "1e9s", "1 d", "9999999999s", "d", 60, null].map((wrong) => [wrong, Date.now]),
    ["1d", undefined],
    ["1d", 1_763_693_129_987],
  ] as ReadonlyArray<[unknown, unknown]>)("of %j with the clock %s is refused", (expiresAfter, now) => {
    const options = { schema: Position, key, scope, expiresAfter, now }
    expect(() => cursorCodec(options as never)).toThrow(
      new TypeError('expiresAfter must be a duration such as "30m" or "1d", with a clock such as now: Date.now'),
    )
  })
})

describe("a schema", () => {
  const failing = (validate: StandardSchemaV1["~standard"]["validate"]) =>
    cursorCodec({ schema: { "~standard": { version: 1, vendor: "test", validate } }, key, scope })

  it("that is asynchronous is rejected, even if its promise rejects", () => {
    const cursor = openCodec.encode(1)
    for (const answer of [() => Promise.resolve({ value: 1 }), () => Promise.reject(new Error("late"))]) {
      expect(thrownBy(() => failing(answer).encode(1))).toMatchObject({ code: "asynchronous_schema" })
      expect(refusal(cursor, failing(answer))).toBe("asynchronous_schema")
    }
  })
  it("that throws results in a CursorError with its cause", () => {
    const cause = new Error("broken")
    const broken = failing(() => {
      throw cause
    })
    expect(thrownBy(() => broken.decode(openCodec.encode(1)))).toMatchObject({ code: "invalid_position", cause })
  })
})

it.each([undefined, null, "", 7, { tenant: 1 }])(
  "a scope of %j is refused when the codec is made, because all tenants would share it",
  (wrong) => {
    expect(() => cursorCodec({ schema: Position, key, scope: wrong as string })).toThrow(
      new TypeError("scope must be a text that names what is paged through: endpoint, caller and filters"),
    )
  },
)

describe("a key", () => {
  it("of fewer than 32 bytes is rejected when the codec is made", () => {
    for (const short of ["", "x".repeat(31), new Uint8Array(31)]) {
      expect(() => cursorCodec({ schema: Position, key: short, scope })).toThrow(RangeError)
    }
    expect(() => cursorCodec({ schema: Position, key: "é".repeat(16), scope })).not.toThrow()
  })
  it("given as text or as its bytes is the same key", () => {
    const bytes = new TextEncoder().encode(key)
    expect(cursorCodec({ schema: Position, key: bytes, scope }).encode(position)).toBe(codec.encode(position))
  })
})

describe("a ring of keys", () => {
  const codecOf = (...keys: ReadonlyArray<CursorKey>) =>
    cursorCodec({ schema: anything, key: cursorKeyRing(keys), scope })
  const keyOf = (name: string, id?: number): CursorKey => ({ key: name.padEnd(32, "."), id })
  const ids = fc.option(fc.nat(255), { nil: undefined })

  it("reads the cursors of each of its keys, with ids or without, and no other key's", () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.bigInt()), ids, ids, ids, (value, id1, id2, id3) => {
        const [k1, k2, k3] = [keyOf("one", id1), keyOf("two", id2), keyOf("three", id3)]
        const made = [k1, k2].map((each) => codecOf(each).encode(value))
        for (const cursor of made) {
          expect(codecOf(k2, k1).decode(cursor)).toEqual(value)
          expect(codecOf(k3, k1, k2).decode(cursor)).toEqual(value)
          expect(refusal(cursor, codecOf(k3))).toBe("not_authentic")
        }
        expect(codecOf(k2, k1).encode(value)).toBe(made[1])
        expect(refusal(made[0], codecOf(k2))).toBe("not_authentic")
      }),
    )
  })
  it("makes cursors with an id that cannot be changed", () => {
    const ring = codecOf(keyOf("one", 7), keyOf("one", 8), keyOf("two"))
    const bytes = Buffer.from(ring.encode(position), "base64url")
    bytes[1]! ^= 7 ^ 8
    expect(refusal(bytes.toString("base64url"), ring)).toBe("not_authentic")
  })
  it("reads a key's cursors if either side has no id, but not with a different id", () => {
    const [plain, named] = [keyOf("one"), keyOf("one", 7)]
    expect(codecOf(named).decode(codecOf(plain).encode(1))).toBe(1)
    expect(codecOf(plain).decode(codecOf(named).encode(1))).toBe(1)
    expect(refusal(codecOf(named).encode(1), codecOf(keyOf("one", 8)))).toBe("not_authentic")
  })
  it("of one key without an id makes the same cursors as the key", () => {
    expect(codecOf({ key }).encode(position)).toBe(codec.encode(position))
    expect(codec.decode(codecOf({ key }).encode(position))).toEqual(position)
  })
  it("is rejected without keys, with a short key, and with an id that is not a byte", () => {
    expect(() => cursorKeyRing([])).toThrow(RangeError)
    expect(() => cursorKeyRing([keyOf("one"), { key: "short" }])).toThrow(RangeError)
    for (const id of [-1, 256, 1.5, Number.NaN]) expect(() => cursorKeyRing([keyOf("one", id)])).toThrow(RangeError)
  })
})
