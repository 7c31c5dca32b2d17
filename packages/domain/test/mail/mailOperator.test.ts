import { expect, it } from "@effect/vitest"
import { mailOperator } from "@outreach/domain/mail/mailOperator"

// As `dig MX` answered for domains at these operators.
it.each([
  [
    "gmail.com",
    [
      [5, "gmail-smtp-in.l.google.com"],
      [10, "alt1.gmail-smtp-in.l.google.com"],
    ],
    "google.com",
  ],
  [
    "a domain at Google",
    [
      [10, "alt3.aspmx.l.google.com"],
      [1, "aspmx.l.google.com"],
    ],
    "google.com",
  ],
  ["a domain at Microsoft", [[0, "clinic-test.mail.protection.outlook.com"]], "outlook.com"],
  ["hotmail.com", [[2, "hotmail-com.olc.protection.outlook.com"]], "outlook.com"],
  ["a domain at a provider in the United Kingdom", [[10, "mx1.provider.co.uk."]], "provider.co.uk"],
  ["a domain with mail servers of its own", [[10, "MX.Clinic.TEST"]], "clinic.test"],
  ["a domain without mail (RFC 7505)", [[0, ""]], null],
  ["a domain without MX records", [], null],
  ["a record that names an address", [[10, "192.0.2.1"]], null],
] as const)("finds who runs the mail servers of %s", (_, records, operator) => {
  expect(mailOperator(records.map(([priority, exchange]) => ({ priority, exchange })))).toBe(operator)
})
