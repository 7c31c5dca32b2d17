import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { NodeServices } from "@effect/platform-node"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { Effect, Stream } from "effect"
import * as fc from "fast-check"
import { afterAll, expect, it } from "vitest"
import { type Row, readRows } from "../../src/csv/readRows.ts"

const folder = temporaryFolder("ops-rows", afterAll)
const path = join(folder, "rows.csv")

const read = (text: string, isWhole: (fields: ReadonlyArray<string>) => boolean = () => true) => {
  writeFileSync(path, text)
  return readRows(path, { encoding: "utf-8", delimiter: ",", isWhole }).pipe(
    Stream.runCollect,
    Effect.map((rows) => [...rows]),
    Effect.provide(NodeServices.layer),
    Effect.runPromise,
  )
}

const quote = (field: string): string => `"${field.replaceAll('"', '""')}"`
const plain = fc.stringMatching(/^[a-z0-9@.'é]{1,8}$/)
const field = fc.oneof(
  plain.map((value) => ({ value, text: value })),
  plain.map((value) => ({ value, text: ` ${value} ` })),
  fc.stringMatching(/^[a-z, "\r\n;é]{0,12}$/).map((value) => ({ value, text: quote(value) })),
)
const row = fc.array(field, { minLength: 2, maxLength: 4 })
const file = fc.record({
  bom: fc.constantFrom("", "\uFEFF"),
  end: fc.constantFrom("\n", "\r\n", "\r"),
  last: fc.boolean(),
  rows: fc.array(fc.oneof({ weight: 4, arbitrary: row }, fc.constant([])), { minLength: 1, maxLength: 12 }),
})

it("reads any file with its fields unchanged and the first line of each row", async () => {
  await fc.assert(
    fc.asyncProperty(file, async ({ bom, end, last, rows }) => {
      const texts = rows.map((fields) => fields.map(({ text }) => text).join(","))
      const expected: Array<Row> = []
      let number = 1
      for (const [i, fields] of rows.entries()) {
        if (fields.some(({ value }) => value !== "")) {
          expected.push({ number, text: texts[i]!, fields: fields.map(({ value }) => value) })
        }
        number += texts[i]!.split(/\r\n|\r|\n/).length
      }
      expect(await read(bom + texts.join(end) + (last ? end : ""))).toEqual(expected)
    }),
  )
})

it("skips rows that contain only delimiters", async () => {
  expect(await read('a,b\n,\n "" , \n1,\n')).toEqual([
    { number: 1, text: "a,b", fields: ["a", "b"] },
    { number: 4, text: "1,", fields: ["1", ""] },
  ])
})

it("keeps a stray quote as a character of its field", async () => {
  expect(await read('a"b,c\ng,h\n')).toEqual([
    { number: 1, text: 'a"b,c', fields: ['a"b', "c"] },
    { number: 2, text: "g,h", fields: ["g", "h"] },
  ])
})

it("continues with the next line after a line with unpaired quotes, wherever the chunks are split", async () => {
  const good = Array.from({ length: 7000 }, (_, i) => `"row ${i}",x`)
  for (const end of ["\n", "\r\n", "\r"]) {
    const rows = await read(["a,b", '"c,d', ...good, 'e,"f', "g,h"].join(end))
    expect(rows.filter(({ fields }) => fields === undefined)).toEqual([
      { number: 2, text: '"c,d', fields: undefined },
      { number: 7003, text: 'e,"f', fields: undefined },
    ])
    expect(rows.flatMap(({ fields }) => (fields === undefined ? [] : [fields.join()]))).toEqual([
      "a,b",
      ...good.map((_, i) => `row ${i},x`),
      "g,h",
    ])
  }
})

it("reads CRLF as one line end, wherever the chunks are split", async () => {
  // Five shifts of five-character lines: one of them splits a line end between chunks.
  for (const shift of ["", "x", "xx", "xxx", "xxxx"]) {
    const rows = await read(`${shift}${"a,b\r\n".repeat(15_000)}`)
    expect(rows).toHaveLength(15_000)
    expect(rows.every(({ number }, i) => number === i + 1)).toBe(true)
  }
})

it("reads an incomplete multi-line row as separate lines", async () => {
  const rows = await read('a,"b\nc,d\ne,f"\n', (fields) => fields.length === 1)
  expect(rows).toEqual([
    { number: 1, text: 'a,"b', fields: undefined },
    { number: 2, text: "c,d", fields: ["c", "d"] },
    { number: 3, text: 'e,f"', fields: ["e", 'f"'] },
  ])
})
