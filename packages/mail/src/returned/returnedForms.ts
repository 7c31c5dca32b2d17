import type { Email } from "postal-mime"
import { NOTICES, type ReturnedForm, SISIMAI } from "./noticeForms.ts"
import { headsOf } from "./parseReturned.ts"

/** Senders' addresses of mail systems. */
const SYSTEM =
  /mailer-?daemon|^<>$|postmaster|mail delivery|delivery (sub)?system|system administrator|mail administrator|mailmarshal@|mdaemon@|bounce@/i

/** Reports whether a mail system wrote a message, by its header. */
export const isOfSystem = (message: Email): boolean => {
  const heads = headsOf(message)
  return SYSTEM.test(heads.get("from") ?? "") || /^<(mailer-daemon\b.*)?>$/i.test(heads.get("return-path") ?? "")
}

const FAILURE_SUBJECT =
  /undeliver|delivery (has )?fail|fail\w* (delivery|notice)|delivery status notification \(failure|returned mail|(mail|message|delivery).{0,20}(returned|error|problem|not delivered)|could ?n.t be delivered|unzustellbar|nicht zustellbar|non remis|non distribu|echec|échec|no se puede entregar|no entregado|devuelto|mancato recapito|non recapitabile|não (é possível|foi possível) entregar|onbestelbaar|niet bezorgd|kunde inte leverer|olevererbart|ikke leveres|配信|未达|退信|недостав/i

const byHead = (name: string, source: string, seen: string, head: Readonly<Record<string, RegExp>>): ReturnedForm => ({
  name,
  kind: "bounce",
  source,
  seen,
  head,
})

const guessed = (...[name, source, seen, head]: [string, string, string, Readonly<Record<string, RegExp>>]) => ({
  ...byHead(name, source, seen, head),
  isGuess: true as const,
})

export const RETURNED_FORMS: ReadonlyArray<ReturnedForm> = [
  ...NOTICES,
  byHead("qmail, in other words", "qmail-send.c 1.03, injectbounce", "since 1998", {
    received: /\(qmail \d+ invoked for bounce\)/,
  }),
  byHead("IMail", `${SISIMAI} (IMailServer)`, "since 1998", { "x-mailer": /^<SMTP32 v/i }),
  byHead("X-Failed-Recipients", "exim 4.96, deliver.c; Gmail", "since 1998", { "x-failed-recipients": /@/ }),
  guessed("a report without fields", "RFC 3464", "since 1996", {
    "content-type": /report-type="?(global-)?delivery-status/i,
  }),
  guessed("a subject of mail systems", SISIMAI, "2024", { from: SYSTEM, subject: FAILURE_SUBJECT }),
  // Automatic replies can have an empty sender, too. They repeat our subject after a colon.
  guessed("a subject of mail systems, from nobody", "RFC 5321, 4.5.5", "since 2001", {
    "return-path": /^<>$/,
    subject: new RegExp(`^[^:：]*(?:${FAILURE_SUBJECT.source})`, "i"),
  }),
]
