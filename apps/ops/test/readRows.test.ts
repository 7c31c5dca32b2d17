import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NodeServices } from "@effect/platform-node"
import { Effect, Stream } from "effect"
import * as fc from "fast-check"
import { afterAll, expect, it } from "vitest"
import { readRows } from "../src/csv/readRows.ts"

const folder = mkdtempSync(join(tmpdir(), "ops-rows-"))
afterAll(() => rmSync(folder, { recursive: true }))
const path = join(folder, "rows.csv")

const read = (text: string) => {
  writeFileSync(path, text)
  return readRows(path, () => Effect.void).pipe(
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

it("reads any file with the fields as they were written and the line that each row begins on", async () => {
  await fc.assert(
    fc.asyncProperty(file, async ({ bom, end, last, rows }) => {
      const texts = rows.map((fields) => fields.map(({ text }) => text).join(","))
      const expected: Array<{ number: number; fields: ReadonlyArray<string> }> = []
      let number = 1
      for (const [i, fields] of rows.entries()) {
        if (fields.length > 0) expected.push({ number, fields: fields.map(({ value }) => value) })
        number += texts[i]!.split(/\r\n|\r|\n/).length
      }
      expect(await read(bom + texts.join(end) + (last ? end : ""))).toEqual(expected)
    }),
    { numRuns: 300 },
  )
})

it("keeps a stray quote as a character of its field", async () => {
  expect(await read('a"b,c\ng,h\n')).toEqual([
    { number: 1, fields: ['a"b', "c"] },
    { number: 2, fields: ["g", "h"] },
  ])
})
