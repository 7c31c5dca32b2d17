import type { MailOutcome } from "@outreach/domain/mail/Mailer"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { classifySmtpReply } from "../src/classifySmtpReply.ts"
import replies from "./data/mailReplies.json" with { type: "json" }

const say = (outcome: MailOutcome) => (outcome._tag === "Bounced" ? outcome.reason : outcome._tag.toLowerCase())
const at = (text: string) => (text === "DATA" ? "DATA" : "RCPT TO")

describe("a reply that a mail server gave", () => {
  it.each(replies.map((row) => [row.reply, row.at, row.expected] as const))("%s", (reply, stage, expected) => {
    expect(say(classifySmtpReply({ code: Number(reply.slice(0, 3)), text: reply, at: at(stage) }))).toBe(expected)
  })

  it("comes from a table of at least 60, each with its source", () => {
    expect(new Set(replies.map(({ reply }) => reply)).size).toBeGreaterThanOrEqual(60)
    for (const { source } of replies) expect(source).not.toBe("")
  })
})

describe("classifySmtpReply", () => {
  const stage = fc.constantFrom("RCPT TO" as const, "DATA" as const)

  it("never marks an address for 5.7.x, whatever the text says", () => {
    const property = fc.property(stage, fc.nat(999), fc.string(), (at, detail, text) => {
      expect(classifySmtpReply({ code: 550, text: `550 5.7.${detail} ${text}`, at })).toEqual({
        _tag: "Refused",
        status: `550 5.7.${detail}`,
      })
    })
    fc.assert(property)
  })

  it("never marks an address for a reply that is not for good", () => {
    const property = fc.property(stage, fc.integer({ min: 400, max: 499 }), fc.string(), (at, code, text) => {
      expect(classifySmtpReply({ code, text: `${code} ${text}`, at })._tag).not.toBe("Bounced")
    })
    fc.assert(property)
  })
})
