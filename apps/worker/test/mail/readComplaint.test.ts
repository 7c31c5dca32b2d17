import { suppressionFor } from "@outreach/domain/mail/Complaints"
import { parseReturned } from "@outreach/mail/returned/parseReturned"
import { readComplaint } from "@outreach/mail/returned/readComplaint"
import { readReturned } from "@outreach/mail/returned/readReturned"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { complaintReport, complaintReports } from "../complaintReport.ts"

const SEAL = `bounce-${"0a".repeat(16)}-${"b7".repeat(9)}`

const read = async (raw: string | Uint8Array) => {
  const message = await parseReturned(typeof raw === "string" ? Buffer.from(raw) : raw)
  return message && readComplaint(message)
}
const judge = async (raw: string) => {
  const complaint = await read(raw)
  if (complaint === undefined) return "nothing"
  expect(complaint.localParts).toContain(SEAL)
  return suppressionFor(complaint.feedbackType) ?? "ignored"
}

describe("feedback on a message", () => {
  it.each(complaintReports.map(({ source, expected }) => [source, expected] as const))(
    "of %s is %s, by what is left of our message",
    async (source, expected) => {
      expect(await judge(complaintReport(source, SEAL, "bounces.acme.test"))).toBe(expected)
    },
  )

  it.each([
    ["with bare line feeds", (raw: string) => raw.replaceAll("\r\n", "\n")],
    [
      "with its types in capitals",
      (raw: string) => raw.replace(/^Content-Type: message\/\S+/gim, (it) => it.toUpperCase()),
    ],
    ["in base64", (raw: string) => raw.replace(/(message\/feedback-report)\r\n\r\n([\s\S]*?)\r\n--/, encoded)],
    ["whose addresses are gone", (raw: string) => raw.replace(/[^\s<>@]+@[^\s<>]+/g, "redacted")],
    [
      "forwarded under another return path",
      (raw: string) => raw.replaceAll(/<?bounce-\S+@\S+?>?$/gim, `<SRS0=x=y=acme.test=${SEAL}@fwd.test>`),
    ],
  ])("is read %s", async (_, change) => {
    for (const { source, expected } of complaintReports.slice(2, 4)) {
      expect(await judge(change(complaintReport(source, SEAL, "bounces.acme.test")))).toBe(expected)
    }
  })

  it.each(["virus", "auth-failure", "not-spam", "miscategorized", "", "__proto__", "constructor"])(
    "of the type %j suppresses nobody",
    (type) => {
      expect(suppressionFor(type)).toBeUndefined()
    },
  )
})

function encoded(_: string, type: string, fields: string) {
  return `${type}\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(fields).toString("base64")}\r\n--`
}

describe("malformed feedback", () => {
  const bytes = complaintReports.map(({ source }) => complaintReport(source, SEAL, "bounces.acme.test"))
  const readAll = async (raw: Uint8Array) => {
    const message = await parseReturned(raw)
    if (message === undefined) return
    for (const localPart of readReturned(message).localParts) expect(localPart.length).toBeLessThan(65)
  }

  it("is read without a failure, cut off, doubled or with any bytes in it", async () => {
    const broken = fc
      .record({
        report: fc.constantFrom(...bytes),
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        cut: fc.nat(400),
        put: fc.oneof(
          fc.uint8Array({ maxLength: 60 }).map((it) => Buffer.from(it)),
          fc
            .constantFrom(
              "\r\n\r\n",
              "--b1\r\n",
              "--b1--\r\n",
              "\0",
              "=?utf-8?q?",
              "Content-Type: message/rfc822\r\n\r\n",
            )
            .map((it) => Buffer.from(it)),
          fc.constantFrom(...bytes).map((it) => Buffer.from(it)),
        ),
      })
      .map(({ report, at, cut, put }) => {
        const raw = Buffer.from(report)
        const place = Math.floor(at * raw.length)
        return Buffer.concat([raw.subarray(0, place), put, raw.subarray(place + cut)])
      })
    await fc.assert(fc.asyncProperty(broken, readAll))
    await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), readAll))
  })

  it.each([
    ["parts within parts", nested("multipart/mixed", 100_000)],
    ["messages within messages", "Content-Type: message/rfc822\r\n\r\n".repeat(100_000)],
    ["a header of megabytes", `Subject: ${"x".repeat(4_000_000)}\r\n\r\n`],
    ["a hundred thousand header fields", `${"A: b\r\n".repeat(100_000)}\r\n`],
    ["a folded header without end", `Content-Type: multipart/report${";\r\n x=y".repeat(100_000)}\r\n\r\n`],
    ["a field without end", bytes[0]!.replace("abuse", "x".repeat(4_000_000))],
    ["fields without end", bytes[0]!.replace("Version: 1", "Version: 1\r\n".repeat(300_000))],
    ["parts without end", bytes[0]!.replace("--b1--", "--b1\r\n\r\nx\r\n".repeat(100_000))],
    ["nothing but blanks", bytes[0]!.replace("abuse", " ".repeat(2_000_000))],
    ["nothing but line breaks", bytes[0]!.replace("abuse", "\r\n".repeat(1_000_000))],
  ])("is not read for ever: %s", async (_, raw) => {
    await readAll(Buffer.from(raw))
  })
})

function nested(type: string, depth: number): string {
  let text = ""
  for (let level = 0; level < depth; level++) text += `Content-Type: ${type}; boundary=b${level}\r\n\r\n--b${level}\r\n`
  return text
}
