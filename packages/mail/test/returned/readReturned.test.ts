import { readFileSync } from "node:fs"
import type { Email } from "postal-mime"
import { describe, expect, it } from "vitest"
import { parseReturned } from "../../src/returned/parseReturned.ts"
import { type Returned, readReturned } from "../../src/returned/readReturned.ts"
import { RETURNED_FORMS } from "../../src/returned/returnedForms.ts"
import samples from "./samples.json" with { type: "json" }

const textOf = (file: string) => readFileSync(new URL(`../bounces/${file}.eml`, import.meta.url), "utf8")
const read = async (text: string): Promise<Returned> => readReturned((await parseReturned(Buffer.from(text))) as Email)

/** Describes a reading as the index does: kind, verdict, sureness and status. */
const say = (returned: Returned): string => {
  if (returned.kind === "complaint") return `complaint ${returned.feedbackType} ${returned.sureness}`
  if (returned.kind !== "bounce") return `${returned.kind} ${returned.sureness}`
  const { verdict, sureness, status } = returned
  const reason = verdict._tag === "Bounced" ? verdict.reason : verdict._tag.toLowerCase()
  return `bounce ${reason} ${sureness} ${status ?? "-"}`
}

describe("a returned message is classified correctly", () => {
  it.each(samples.map(({ file, rule, expected }) => [file, expected, rule] as const))(
    "%s: %s",
    async (file, expected, rule) => {
      const returned = await read(textOf(file))
      expect({ rule: returned.rule, says: say(returned) }).toEqual({ rule, says: expected })
    },
  )

  it("and every form that is known has a sample, with its source", () => {
    expect(new Set(RETURNED_FORMS.map(({ name }) => name)).size).toBe(RETURNED_FORMS.length)
    expect(samples.map(({ rule }) => rule)).toEqual(expect.arrayContaining(RETURNED_FORMS.map(({ name }) => name)))
    for (const { source } of samples) expect(source).not.toBe("")
  })
})

it.each([
  ["error", "Status: 5.1.1", "bounce"],
  ["expired", "Status: 4.4.7", "delay"],
  ["done", "Status: 2.0.0", "delivered"],
  ["error", "Diagnostic-Code: smtp; 550 No such user", "bounce"],
  ["relayed", "Status: 5.1.1", "delivered"],
])("a report with the action %s and %s is a %s", async (action, field, kind) => {
  const type = "Content-Type: message/delivery-status"
  const fields = `Reporting-MTA: dns; mx.example\r\n\r\nAction: ${action}\r\n${field}`
  const head = `From: mailer-daemon@mx.example\r\nContent-Type: multipart/report; boundary="b"`
  expect(await read(`${head}\r\n\r\n--b\r\n${type}\r\n\r\n${fields}\r\n\r\n--b--\r\n`)).toMatchObject({ kind })
})
