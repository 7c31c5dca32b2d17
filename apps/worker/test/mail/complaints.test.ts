import { suppressionFor } from "@outreach/domain/mail/returned/Bounces"
import { parseReturned, readExcerpt } from "@outreach/mail/returned/parseReturned"
import { readReturned } from "@outreach/mail/returned/readReturned"
import { describe, expect, it } from "vitest"
import { complaintReport, complaintReports } from "../complaintReport.ts"

const SEAL = `bounce-${"0a".repeat(16)}-${"b7".repeat(9)}`

const read = async (raw: string) => {
  const message = await parseReturned((await readExcerpt([Buffer.from(raw)]))!)
  return message && readReturned(message)
}
const judge = async (raw: string) => {
  const complaint = await read(raw)
  if (complaint?.kind !== "complaint") return "nothing"
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

it.each([
  ["a field", "abuse", "x".repeat(4_000_000)],
  ["fields", "Version: 1", "Version: 1\r\n".repeat(300_000)],
  ["parts", "--b1--", "--b1\r\n\r\nx\r\n".repeat(100_000)],
  ["blanks", "abuse", " ".repeat(2_000_000)],
  ["line breaks", "abuse", "\r\n".repeat(1_000_000)],
])("feedback with %s without end is read", async (_, part, endless) => {
  const [{ source }] = complaintReports as [(typeof complaintReports)[number]]
  const raw = complaintReport(source, SEAL, "bounces.acme.test").replace(part, endless)
  for (const localPart of (await read(raw))?.localParts ?? []) expect(localPart.length).toBeLessThan(65)
})
