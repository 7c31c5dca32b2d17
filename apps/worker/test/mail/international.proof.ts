import { findInstalled } from "@outreach/debian-packages/findProgram"
import { eventually } from "@outreach/testing/eventually"
import { describe, expect, it } from "vitest"
import { refused, sendSigned, verifySignature } from "./sendSigned.ts"
import { startPostfix } from "./startPostfix.ts"

/** Postfix includes its queue id in the reply. */
const delivered = { _tag: "Accepted", reply: expect.stringMatching(/^250 /) }

const postfix = findInstalled("postfix")

describe.skipIf("missing" in postfix)("an address with non-ASCII letters", () => {
  it.each([
    ["yes", [delivered, delivered, delivered], 3],
    ["no", [delivered, refused, delivered], 2],
  ] as const)(
    "is delivered by postfix with smtputf8_enable=%s, or refused, and others are delivered",
    async (enable, outcomes, count) => {
      if ("missing" in postfix) return
      const settings = {
        mynetworks: "127.0.0.0/8",
        virtual_mailbox_domains: "clinic.test xn--bro-hoa.test",
        smtpd_recipient_restrictions: "permit_mynetworks, reject",
        smtputf8_enable: enable,
        notify_classes: "",
      }
      const server = await startPostfix(postfix.program, settings)
      const addresses = ["a@clinic.test", "josé@clinic.test", "anna@xn--bro-hoa.test"]
      expect(await sendSigned(server.url, ...addresses)).toMatchObject(outcomes)
      const messages = await eventually(server.readMailbox, ({ length }) => length === count)
      for (const message of messages) {
        expect(message).toMatch(/^Return-Path: <bounce-1@bounces\.acme\.test>$/m)
        expect(await verifySignature(message.replaceAll(/\r?\n/g, "\r\n"))).toBe("pass")
      }
      expect(messages.some((message) => message.includes("To: josé@clinic.test"))).toBe(enable === "yes")
    },
  )
})
