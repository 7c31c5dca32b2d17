import { MessageScanner } from "@outreach/postgres-connection/MessageScanner"
import { SocketError } from "@outreach/postgres-connection/SocketError"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

/** Kinds that the scanner reports. */
const READ = "ENSZ"
/** Skipped kinds: a row, the end of a command, a notification, the end of a parse. */
const SKIPPED = "DCA1"
/** Longer than allowed for kinds that aren't long. */
const TOO_LONG = 30_001

const message = (kind: string, body: Uint8Array): Buffer => {
  const head = Buffer.alloc(5, kind)
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

/** Splits bytes at positions. */
const cut = (bytes: Buffer, places: ReadonlyArray<number>): ReadonlyArray<Buffer> => {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)).sort((one, other) => one - other)]
  return sorted.map((from, i) => bytes.subarray(from, sorted[i + 1]))
}

/** Scans chunks. Returns the reported messages, and the maximum number of buffered bytes. */
const scan = (chunks: ReadonlyArray<Buffer>) => {
  const found: Array<readonly [kind: string, body: string]> = []
  const scanner = new MessageScanner((kind, body) => found.push([kind, body.toString("hex")]))
  let kept = 0
  for (const chunk of chunks) {
    scanner.scan(chunk)
    kept = Math.max(kept, (scanner as unknown as { readonly partial?: Buffer }).partial?.length ?? 0)
  }
  return { found, kept }
}

const messages = fc.array(
  fc.tuple(fc.constantFrom(...READ, ...SKIPPED), fc.uint8Array({ maxLength: 300, size: "max" })),
  { maxLength: 20 },
)

describe("the messages of a server", () => {
  it("are found whole and in their order, wherever the stream is cut", () => {
    fc.assert(
      fc.property(messages, fc.array(fc.nat(), { maxLength: 40 }), (sent, places) => {
        const bytes = Buffer.concat(sent.map(([kind, body]) => message(kind, body)))
        const expected = sent
          .filter(([kind]) => READ.includes(kind))
          .map(([kind, body]) => [kind, Buffer.from(body).toString("hex")])
        expect(scan(cut(bytes, places)).found).toEqual(expected)
        expect(scan([...bytes].map((byte) => Buffer.of(byte))).found).toEqual(expected)
      }),
    )
  })

  it("are found behind a row that is longer than all that is kept", () => {
    const row = message("D", Buffer.alloc(50_000_000))
    const chunks = Array.from({ length: 500 }, (_, i) =>
      row.subarray(i * 100_000, (i + 1) * 100_000 + (i === 499 ? 5 : 0)),
    )
    const { found, kept } = scan([...chunks, message("Z", Buffer.from("I"))])
    expect(found).toEqual([["Z", "49"]])
    expect(kept).toBe(0)
  })
})

describe("an invalid server message", () => {
  const head = (kind: string, length: number) => {
    const bytes = Buffer.alloc(5, kind)
    bytes.writeUInt32BE(length >>> 0, 1)
    return bytes
  }

  it.each([
    ["a length that does not count itself", head("Z", 3)],
    ["no length", head("S", 0)],
    ["a negative length", head("D", -1)],
    ["the least of all lengths", head("E", -(2 ** 31))],
    ["a length beyond that of any row", head("D", 0x4000_0001)],
    ["a long end of a command", head("C", TOO_LONG + 4)],
    ["a long parameter", head("S", TOO_LONG + 4)],
    ["another protocol", Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n")],
  ])("is refused: %s", (_, bytes) => {
    expect(() => scan([bytes])).toThrow(expect.objectContaining({ code: "EPROTO" }))
  })

  it("only causes the scanner's own error, and a bounded number of bytes is kept", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 2000, size: "max" }), { maxLength: 50 }), (chunks) => {
        try {
          expect(scan(chunks.map((chunk) => Buffer.from(chunk))).kept).toBeLessThanOrEqual(65_536)
        } catch (error) {
          if (!(error instanceof SocketError)) throw error
          expect(error.code).toBe("EPROTO")
        }
      }),
    )
  })

  it("is passed over without being kept where an error or a notice does not end", () => {
    for (const kind of "EN") {
      const endless = Array.from({ length: 2000 }, () => Buffer.alloc(10_000, "C42P01\0"))
      const { found, kept } = scan([head(kind, 0x3fff_ffff), ...endless])
      expect(found).toEqual([])
      expect(kept).toBeLessThanOrEqual(65_536)
    }
  })
})
