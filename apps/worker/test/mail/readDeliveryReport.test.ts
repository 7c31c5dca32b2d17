import { describe, expect, it } from "@effect/vitest"
import { parseReport } from "../../src/mail/parseReport.ts"
import { readDeliveryReport } from "../../src/mail/readDeliveryReport.ts"
import reports from "../data/deliveryReports.json" with { type: "json" }
import { deliveryReport } from "../deliveryReport.ts"

const read = async (text: string) => {
  const message = await parseReport(Buffer.from(text))
  const verdict = message && readDeliveryReport(message)
  if (verdict === undefined) return "nothing"
  return verdict._tag === "Bounced" ? verdict.reason : verdict._tag.toLowerCase()
}
const failed = "Final-Recipient: rfc822; x@example.com\r\nAction: failed\r\nStatus: 5.1.1\r\n"

describe("a delivery report", () => {
  it.each(reports.map(({ source, expected, fields }) => [source, expected, fields] as const))(
    "of %s says %s",
    async (_, expected, fields) => {
      expect(await read(deliveryReport(fields))).toBe(expected)
    },
  )

  it("is read of an international message, too, as RFC 6533 writes it", async () => {
    const fields = "Final-Recipient: utf-8; josé@büro.test\r\nAction: failed\r\nStatus: 5.1.1\r\n"
    const report = deliveryReport(fields).replace("message/delivery-status", "message/global-delivery-status")
    expect(await read(report)).toBe("mailbox_not_found")
    const named = report.replace("report-type=delivery-status", "report-type=global-delivery-status")
    expect(await read(named)).toBe("mailbox_not_found")
  })

  it("is read with bare line feeds, too", async () => {
    expect(await read(deliveryReport(failed).replaceAll("\r\n", "\n"))).toBe("mailbox_not_found")
  })
})

describe("what is not a delivery report says nothing", () => {
  it.each([
    [
      "an automatic reply",
      "Auto-Submitted: auto-replied\r\nSubject: Out of office\r\n\r\nAction: failed\r\nStatus: 5.1.1\r\n",
    ],
    [
      "a read receipt",
      deliveryReport(failed).replace("report-type=delivery-status", "report-type=disposition-notification"),
    ],
    [
      "a message that has such a part",
      deliveryReport(failed).replace("multipart/report; report-type=delivery-status;", "multipart/mixed;"),
    ],
    [
      "a bounce without fields",
      "Subject: failure notice\r\n\r\nHi. This is the qmail-send program. 550 5.1.1 no such user\r\n",
    ],
    ["nothing at all", ""],
  ])("%s", async (_, text) => {
    expect(await read(text)).toBe("nothing")
  })
})
