import { isUtf8 } from "node:buffer"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { NodeServices } from "@effect/platform-node"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { Effect, Stream, Struct } from "effect"
import * as fc from "fast-check"
import { afterAll, expect, it } from "vitest"
import { DELIMITERS, type Encoding, readRows } from "../../src/csv/readRows.ts"
import { recognizeFormat } from "../../src/csv/recognizeFormat.ts"

const folder = temporaryFolder("ops-format", afterAll)
const path = join(folder, "list.csv")

const recognize = (bytes: string | Uint8Array) => {
  writeFileSync(path, bytes)
  return Effect.runPromise(Effect.provide(recognizeFormat(path), NodeServices.layer))
}

/** The characters that Windows-1252 has in place of ISO 8859-1's controls. */
const WINDOWS = new TextDecoder("windows-1252").decode(Uint8Array.from({ length: 32 }, (_, i) => 0x80 + i))

const encode = (text: string, encoding: Encoding): Buffer => {
  if (encoding === "utf-8") return Buffer.from(text)
  if (encoding === "windows-1252")
    return Buffer.from(
      text.replaceAll(/[^\0-\xFF]/g, (each) => String.fromCharCode(0x80 + WINDOWS.indexOf(each))),
      "latin1",
    )
  const bytes = Buffer.from(text, "utf16le")
  return encoding === "utf-16be" ? bytes.swap16() : bytes
}

const table = fc.record({
  delimiter: fc.constantFrom(...Struct.keys(DELIMITERS)),
  end: fc.constantFrom("\n", "\r\n", "\r"),
  last: fc.boolean(),
  rows: fc.integer({ min: 2, max: 4 }).chain((width) =>
    fc.array(
      fc.array(fc.stringMatching(/^[a-z@.'éÉñüß€“”]([a-z ,;|\t"\r\n’éàÜßø€–]{0,12}[a-zéß”])?$/), {
        minLength: width,
        maxLength: width,
      }),
      {
        minLength: 1,
        maxLength: 40,
      },
    ),
  ),
})
const written = fc.constantFrom<readonly [Encoding, string]>(
  ["utf-8", ""],
  ["utf-8", "\uFEFF"],
  ["utf-16le", "\uFEFF"],
  ["utf-16be", "\uFEFF"],
  ["windows-1252", ""],
)

it("recognizes every encoding, delimiter and line end", async () => {
  await fc.assert(
    fc.asyncProperty(table, written, async ({ delimiter, end, last, rows }, [encoding, mark]) => {
      const header = rows[0]!.map((_, i) => `Column ${i}`)
      const cell = (text: string) => (/[,;\t|"\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
      const text = [header, ...rows].map((row) => row.map(cell).join(delimiter)).join(end) + (last ? end : "")
      const isAscii = !/[^\0-\x7F]/.test(text)
      const bytes = encode(mark + text, encoding)
      // The Windows-1252 bytes of few texts are also valid UTF-8.
      fc.pre(encoding !== "windows-1252" || isAscii || !isUtf8(bytes))
      const format = await recognize(bytes)
      expect(format.delimiter).toBe(delimiter)
      expect(format.encoding).toBe(encoding === "windows-1252" && isAscii ? "utf-8" : encoding)
      const read = await readRows(path, { ...format, isWhole: ({ length }) => length === header.length }).pipe(
        Stream.runCollect,
        Effect.provide(NodeServices.layer),
        Effect.runPromise,
      )
      expect(read.map(({ fields }) => fields)).toEqual([header, ...rows])
    }),
  )
})

it("reads a file that is cut within a UTF-8 character as Windows-1252", async () => {
  const bytes = Buffer.from("npi,name\n1,José")
  expect(await recognize(bytes)).toMatchObject({ encoding: "utf-8" })
  expect(await recognize(bytes.subarray(0, -1))).toMatchObject({ encoding: "windows-1252" })
})

it("ignores delimiters within cells", async () => {
  const tricky = "NPI;Name, first;Notes, other\n1;Reyes, Dana;a, b\n2;Okafor;c\n"
  expect(await recognize(tricky)).toMatchObject({ delimiter: ";" })
  expect(await recognize("email\na@b.test\n")).toMatchObject({ delimiter: "," })
})

it.each([
  ["a ZIP archive or a workbook", "PK\u0003\u0004\u0014\0\u0006\0[Content_Types].xml"],
  ["an old workbook", "\xD0\xCF\u0011\xE0\xA1\xB1\u001A\xE1"],
  ["a PDF document", "%PDF-1.7\n"],
  ["a gzip archive", "\u001F\x8B\u0008\0"],
])("rejects %s with advice on the format", async (_, bytes) => {
  await expect(recognize(Buffer.from(bytes, "latin1"))).rejects.toThrow(
    "cannot be imported: it is a workbook, an archive or a PDF document; save the list as “CSV UTF-8”",
  )
})

it("rejects a line without an end, and accepts an empty file", async () => {
  for (const bytes of ["x".repeat(100_000), Buffer.alloc(100_000)]) {
    await expect(recognize(bytes)).rejects.toThrow("line 1 is longer than 64 KiB")
  }
  expect((await recognize("")).sample).toEqual([])
})
