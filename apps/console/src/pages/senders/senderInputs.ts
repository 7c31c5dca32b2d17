import { field } from "@outreach/backoffice/operations/Field"
import { DomainName } from "@outreach/domain/DomainName"
import { Ramp } from "@outreach/domain/senders/Ramp"
import { ReplyTo } from "@outreach/domain/senders/ReplyTo"
import { Selector } from "@outreach/domain/senders/Sender"
import { SenderNotVerified } from "@outreach/domain/senders/Senders"
import { noneOr } from "@outreach/domain/textSchema"
import { senderMailbox } from "@outreach/mail/mailFrom"
import { Effect } from "effect"
import type { TaggedFailure } from "../../http/PageError.ts"

export const selectorInput = {
  selector: field(Selector, "Key selector", { hint: "Such as s2026; empty: date and four digits" }),
}

/** The changeable values of a sender; `none` removes one. */
export const senderInputs = {
  from: field(senderMailbox, "From", { hint: "Such as Acme Health <outreach@acme.example>", size: 40 }),
  "reply-to": field(noneOr(ReplyTo), "Reply-to", {
    hint: "Or none: the From address",
    inputmode: "email",
    size: 28,
  }),
  "bounce-domain": field(noneOr(DomainName), "Bounce domain", {
    hint: "For return paths, such as bounces.acme.example; none: the deployment's domain",
    size: 28,
  }),
  "link-domain": field(noneOr(DomainName), "Link domain", {
    hint: "For links and unsubscribe pages, such as click.acme.example; none: the deployment's domain",
    size: 28,
  }),
  ramp: field(noneOr(Ramp), "Ramp", {
    hint: "Maximum messages per day at the start, such as 200,400,800; none: unlimited",
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
