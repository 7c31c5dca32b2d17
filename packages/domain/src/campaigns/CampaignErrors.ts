import { Schema } from "effect"
import { DescribedError } from "../DescribedError.ts"

/** No campaign has this id. */
export class CampaignNotFound extends DescribedError(
  "CampaignNotFound",
  ({ campaignId }: { readonly campaignId: string }) => `No campaign ${campaignId}.`,
) {}

/** The campaign's status does not allow the operation. */
export class CampaignNotInStatus extends Schema.TaggedError<CampaignNotInStatus>()("CampaignNotInStatus", {
  campaignId: Schema.String,
  status: Schema.String,
  wanted: Schema.Array(Schema.String),
}) {
  override get message(): string {
    return `Campaign ${this.campaignId} is ${this.status}; this needs it to be ${this.wanted.join(" or ")}.`
  }
}

/** Checks of a campaign failed, by their names in `failed`. */
export class CampaignNotReady extends Schema.TaggedError<CampaignNotReady>()("CampaignNotReady", {
  campaignId: Schema.String,
  failed: Schema.Array(Schema.String),
  checks: Schema.Array(
    Schema.Struct({
      check: Schema.String,
      status: Schema.String,
      found: Schema.String,
      advice: Schema.NullOr(Schema.String),
    }),
  ),
}) {
  override get message(): string {
    const { campaignId, failed, checks } = this
    const lines = checks
      .filter(({ check }) => failed.includes(check))
      .map(({ check, found, advice }) => `${check}: ${found} ${advice ?? ""}`.trimEnd())
    return [
      `Campaign ${campaignId} is not ready: ${failed.length} of ${checks.length} checks failed.`,
      ...lines,
      `Correct this, or schedule the campaign in spite of it with --force ${failed.join(",")}.`,
    ].join("\n")
  }
}

/** The campaign is a follow-up, so nobody is imported. */
export class RecipientsDrawn extends Schema.TaggedError<RecipientsDrawn>()("RecipientsDrawn", {
  campaignId: Schema.String,
}) {
  override get message(): string {
    return `Campaign ${this.campaignId} is a follow-up: its recipients are drawn from those of the campaign that it follows.`
  }
}

/** The campaign cannot follow the other one as requested. */
export class InvalidFollowUp extends DescribedError(
  "InvalidFollowUp",
  ({ reason }: { readonly reason: string }) => reason,
) {}

/** The campaign's program has all the completers that it was to have, so nobody is written to any more. */
export class QuotaReached extends DescribedError(
  "QuotaReached",
  ({ programId, campaignId }: { readonly campaignId: string; readonly programId: string }) =>
    `The program ${programId} of campaign ${campaignId} has reached its completer quota; nobody is added to it.`,
) {}

/** The send window cannot be used. */
export class InvalidWindow extends DescribedError(
  "InvalidWindow",
  ({ reason }: { readonly reason: string }) => reason,
) {}

/** The two subjects of a campaign cannot be compared as requested. */
export class InvalidSubjectTest extends DescribedError(
  "InvalidSubjectTest",
  ({ reason }: { readonly reason: string }) => reason,
) {}

/** A subject or the body is not a template that renders. */
export class InvalidTemplate extends DescribedError(
  "InvalidTemplate",
  ({ part, reason }: { readonly part: "subject" | "subject B" | "html" | "text"; readonly reason: string }) =>
    `The ${part} is not a valid template: ${reason}`,
) {}

const DETAILS = {
  senderName: { name: "the sender name", template: "{{ sender_name }}" },
  postalAddress: { name: "the postal address", template: "{{ postal_address }}" },
  unsubscribeUrl: { name: "the link to unsubscribe", template: "{{ unsubscribe_url }}" },
} as const

/** The e-mail does not show what the law asks every one of its kind to show. */
export class SenderNotShown extends Schema.TaggedError<SenderNotShown>()("SenderNotShown", {
  part: Schema.Literals(["html", "text"]),
  missing: Schema.Array(Schema.Literals(["senderName", "postalAddress", "unsubscribeUrl"])),
}) {
  override get message(): string {
    const list = (key: "name" | "template") => this.missing.map((detail) => DETAILS[detail][key]).join(" and ")
    return `The ${this.part} does not show ${list("name")}. Add ${list("template")} where recipients see it, or let \`--layout plain\` add a footer.`
  }
}

/** The partner's own link cannot be used. */
export class InvalidShortLink extends Schema.TaggedError<InvalidShortLink>()("InvalidShortLink", {
  shortLink: Schema.String,
}) {
  override get message(): string {
    return `${this.shortLink} is not an http or https address that holds {token} once.`
  }
}
