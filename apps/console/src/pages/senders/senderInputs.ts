import { DomainName } from "@outreach/domain/DomainName"
import { Ramp } from "@outreach/domain/senders/Ramp"
import { ReplyTo } from "@outreach/domain/senders/ReplyTo"
import { Selector } from "@outreach/domain/senders/Sender"
import { SenderNotVerified } from "@outreach/domain/senders/Senders"
import { noneOr } from "@outreach/domain/textSchema"
import { senderMailbox } from "@outreach/mail/mailFrom"
import { Effect } from "effect"
import { field } from "../../http/inputs.ts"
import type { TaggedFailure } from "../../http/PageError.ts"

export const selectorInput = {
  selector: field(Selector, "Selector of the key", { hint: "Such as s2026; empty for the date and four digits" }),
}

/** The changeable values of a sender; `none` removes one. */
export const senderInputs = {
  from: field(senderMailbox, "From", { hint: "Such as Acme Health <outreach@acme.example>", size: 40 }),
  "reply-to": field(noneOr(ReplyTo), "Replies go to", {
    hint: "Or none, for the From address",
    inputmode: "email",
    size: 28,
  }),
  "bounce-domain": field(noneOr(DomainName), "Bounce domain", {
    hint: "Of the return paths, such as bounces.acme.example; or none, for the deployment's",
    size: 28,
  }),
  "link-domain": field(noneOr(DomainName), "Link domain", {
    hint: "Of links and pages to unsubscribe, such as click.acme.example; or none, for the deployment's",
    size: 28,
  }),
  ramp: field(noneOr(Ramp), "Ramp", {
    hint: "The most messages on each of the first days, such as 200,400,800; or none, for any number",
    size: 28,
  }),
}

/** The inputs that show errors. */
export const senderFaults = {
  LinkDomainTaken: "link-domain",
  LinkDomainUnusable: "link-domain",
} as const

/** Adds the missing or wrong records to an error, with the remedy. */
export const describeFailures = <A, E extends TaggedFailure, R>(verified: Effect.Effect<A, E, R>) =>
  Effect.mapError(verified, (error): TaggedFailure => {
    if (!(error instanceof SenderNotVerified)) return error
    const failed = error.checks.filter(({ status }) => status === "failed")
    const sentences = failed.map(({ found, advice }) => `${found} ${advice}`)
    return { _tag: error._tag, message: [error.message, ...sentences].join(" ") }
  })
