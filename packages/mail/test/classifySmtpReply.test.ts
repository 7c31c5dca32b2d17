import { readFileSync } from "node:fs"
import type { MailOutcome } from "@outreach/domain/mail/Transport"
import fc from "fast-check"
import type { Email } from "postal-mime"
import { describe, expect, it } from "vitest"
import { classifySmtpReply } from "../src/classifySmtpReply.ts"
import { parseReturned } from "../src/returned/parseReturned.ts"
import { readReturned } from "../src/returned/readReturned.ts"

const table = readFileSync(new URL("data/mailReplies.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
const rows = table
  .filter((line) => !line.startsWith("#"))
  .map((line) => line.split(/ \| ?/) as [expected: string, stage: string, reply: string])

/** Returns the verdict on a reply in a session, or on the diagnostic of a delivery report. */
const judge = async (stage: string, reply: string): Promise<MailOutcome> => {
  const [context, status] = stage.split(" ")
  if (context !== "report") {
    const at = context === "data" ? "DATA" : "RCPT TO"
    return classifySmtpReply({ code: Number(reply.slice(0, 3)), text: reply, at })
  }
  const fields = ["Action: failed", ...(status ? [`Status: ${status}`] : []), `Diagnostic-Code: smtp; ${reply}`]
  const head = [
    "From: MAILER-DAEMON@mx.example",
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
  ]
  const part = [
    ...["--b", "Content-Type: message/delivery-status", "", "Reporting-MTA: dns; mx.example", ""],
    ...fields,
    "",
    "--b--",
    "",
  ]
  const returned = readReturned((await parseReturned(Buffer.from([...head, "", ...part].join("\r\n")))) as Email)
  return returned.kind === "bounce" ? returned.verdict : expect.fail(returned.kind)
}

describe("a rejection by a mail server", () => {
  it.each(rows)("is %s at %s: %s", async (expected, stage, reply) => {
    const outcome = await judge(stage, reply)
    expect(outcome._tag === "Bounced" ? outcome.reason : outcome._tag.toLowerCase()).toBe(expected)
  })

  it("comes from a table of at least 150 different ones, in groups with their sources", () => {
    expect(new Set(rows.map(([, ...rejection]) => rejection.join())).size).toBe(rows.length)
    expect(rows.length).toBeGreaterThanOrEqual(150)
    expect(table[0]).toMatch(/^# /)
  })
})

describe("classifySmtpReply", () => {
  const stage = fc.constantFrom("RCPT TO" as const, "DATA" as const)

  it("never classifies 5.7.x as a bounce, with any text", () => {
    const property = fc.property(stage, fc.nat(999), fc.string(), (at, detail, text) => {
      expect(classifySmtpReply({ code: 550, text: `550 5.7.${detail} ${text}`, at })).toEqual({
        _tag: "Refused",
        status: `550 5.7.${detail}`,
      })
    })
    fc.assert(property)
  })

  it("never classifies a temporary rejection as a bounce", () => {
    const property = fc.property(stage, fc.integer({ min: 400, max: 499 }), fc.string(), (at, code, text) => {
      expect(classifySmtpReply({ code, text: `${code} ${text}`, at })._tag).not.toBe("Bounced")
    })
    fc.assert(property)
  })

  it("never marks an address for a reply that also mentions us, space, rate, time or the server's own trouble", () => {
    const hard = fc.constantFrom(
      ...rows.flatMap(([expected, at, reply]) => (at === "rcpt" && /_/.test(expected) ? [reply] : [])),
    )
    const mild = fc.constantFrom(
      ...["Your IP address is blacklisted", "quota exceeded", "too many messages", "try again later"],
      "internal error",
    )
    const property = fc.property(hard, mild, fc.boolean(), (reply, words, isFirst) => {
      const text = isFirst ? reply.replace(/^(\d+(?: 5\.\d\.\d+)?)/, `$1 ${words};`) : `${reply}; ${words}`
      expect(classifySmtpReply({ code: 550, text, at: "RCPT TO" })._tag).not.toBe("Bounced")
    })
    fc.assert(property)
  })
})
