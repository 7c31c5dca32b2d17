import { expect, it } from "vitest"
import { describeSmtpFailure, SmtpError } from "../src/SmtpError.ts"

it.each([
  [new SmtpError("ESOCKET", "CONN", { originalCode: "CERT_HAS_EXPIRED" }), "CERT_HAS_EXPIRED at CONN"],
  [new SmtpError("ESOCKET", "CONN"), "ESOCKET at CONN"],
  [new SmtpError("ETIMEDOUT", "DATA"), "ETIMEDOUT at DATA"],
  [new SmtpError("EPROTOCOL", "CONN", { originalCode: "250" }), "EPROTOCOL at CONN"],
  [
    new SmtpError("EREPLY", "RCPT TO", { reply: { code: 550, text: "550 5.1.1 no such user" } as never }),
    "550 5.1.1 at RCPT TO",
  ],
  [undefined, "unknown"],
])("describes a failure by codes alone, with the system's word where there is one: %s", (error, description) => {
  expect(describeSmtpFailure(error)).toBe(description)
})
