import { DescribedError } from "../DescribedError.ts"
import type { TemplatePart } from "../mail/templates/Template.ts"
import type { PreflightCheck } from "./preflight.ts"

export class CampaignNotFound extends DescribedError("CampaignNotFound", "No campaign {campaignId}.") {}

export class CampaignNotInStatus extends DescribedError(
  "CampaignNotInStatus",
  ({
    campaignId,
    status,
    wanted,
  }: Record<"campaignId" | "status", string> & { readonly wanted: ReadonlyArray<string> }) =>
    `Campaign ${campaignId} is ${status}; this needs it to be ${wanted.join(" or ")}.`,
) {}

/** Checks of a campaign failed; their names are in `failed`. */
export class CampaignNotReady extends DescribedError(
  "CampaignNotReady",
  ({
    campaignId,
    failed,
    checks,
  }: {
    readonly campaignId: string
    readonly failed: ReadonlyArray<string>
    readonly checks: ReadonlyArray<PreflightCheck>
  }) => {
    const lines = checks
      .filter(({ check }) => failed.includes(check))
      .map(({ check, found, advice }) => `${check}: ${found} ${advice ?? ""}`.trimEnd())
    return [
      `Campaign ${campaignId} is not ready: ${failed.length} of ${checks.length} checks failed.`,
      ...lines,
      `Correct this, or schedule the campaign anyway by forcing ${failed.join(",")}.`,
    ].join("\n")
  },
) {}

export class QuotaReached extends DescribedError(
  "QuotaReached",
  "The program {programId} of campaign {campaignId} has reached its completer quota, so recipients can't be added.",
) {}

export class InvalidWindow extends DescribedError("InvalidWindow", "{reason}") {}

export class InvalidTemplate extends DescribedError(
  "InvalidTemplate",
  ({ part, reason }: { readonly part: TemplatePart; readonly reason: string }) =>
    `The ${part} is not a valid template: ${reason}`,
) {}

const DETAILS = {
  senderName: { name: "the sender name", template: "{{ sender_name }}" },
  postalAddress: { name: "the postal address", template: "{{ postal_address }}" },
  unsubscribeUrl: { name: "the link to unsubscribe", template: "{{ unsubscribe_url }}" },
} as const

/** The e-mail lacks legally required details. */
export class SenderNotShown extends DescribedError(
  "SenderNotShown",
  ({ part, missing }: { readonly part: "html" | "text"; readonly missing: ReadonlyArray<keyof typeof DETAILS> }) => {
    const list = (key: "name" | "template") => missing.map((detail) => DETAILS[detail][key]).join(" and ")
    return `The ${part} does not show ${list("name")}. Add ${list("template")} where recipients see it, or let the plain layout add a footer.`
  },
) {}

export class InvalidShortLink extends DescribedError(
  "InvalidShortLink",
  ({ shortLink }: { readonly shortLink: string }) =>
    `${shortLink} is not an http or https address that contains {token} once.`,
) {}
