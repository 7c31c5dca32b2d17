import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { CampaignId, RecipientId } from "@outreach/domain/Identifier"
import { maskEmail, maskNpi } from "@outreach/domain/recipients/Clinician"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Struct } from "effect"
import { CampaignReader } from "../campaigns/CampaignReader.ts"
import { type ListedRecipient, OutcomeReader, RECIPIENT_LISTS } from "../recipients/OutcomeReader.ts"
import { choice, field, required } from "./Field.ts"
import { badge, list, masked, text, time } from "./List.ts"

const TONES = {
  sent: "good",
  deferred: "warning",
  unknown: "warning",
  withdrawn: "warning",
  quarantined: "bad",
  bounced: "bad",
  refused_later: "bad",
} as const

const reasonOf = ({ withdrawalReason, bounceReason, refusalCause }: ListedRecipient) =>
  (withdrawalReason ?? bounceReason ?? refusalCause)?.replaceAll("_", " ")

const botNote = (any: string | null, unsuspected: string | null) =>
  any !== null && unsuspected === null ? "bot suspected" : ""

/** The recipients of a campaign in the console. The command exports all of them. */
export const recipients = list("recipients export", {
  about: "List a campaign's recipients of an outcome, most recently changed first",
  isPersonal: true,
  filters: {
    campaignId: required(field(CampaignId, "Campaign")),
    outcome: choice("Outcome", Struct.keys(RECIPIENT_LISTS)),
  },
  cursor: { at: Timestamp, id: RecipientId },
  *read({ campaignId, outcome = "imported" }, { limit, after, direction }) {
    const { organizationId } = yield* (yield* CampaignRepository).find(campaignId)
    const key = { organizationId, campaignId }
    const page = yield* (yield* OutcomeReader).page(key, outcome, limit, after, direction)
    const totals = yield* (yield* CampaignReader).totals(key)
    // The count shows the end before all rows were read.
    const isWhole = after === null && page.rows.length >= totals[RECIPIENT_LISTS[outcome].total]
    return isWhole ? { ...page, next: null } : page
  },
  columns: {
    npi: {
      ...masked("NPI"),
      of: ({ id }) => id,
      value: ({ npi }) => npi ?? "erased",
      mask: ({ npi }) => (npi === null ? "erased" : maskNpi(npi)),
    },
    email: {
      ...masked("Address"),
      value: ({ email }) => email ?? "erased",
      mask: ({ email }) => (email === null ? "erased" : maskEmail(email)),
    },
    token: text("Token"),
    state: {
      ...badge("State", TONES),
      note: (recipient) => [reasonOf(recipient), recipient.lastReply].filter(Boolean).join(": "),
    },
    sentAt: time("Sent"),
    openedOn: {
      ...text("Opened"),
      value: ({ openedOn, unsuspectedOpenedOn }) => unsuspectedOpenedOn ?? openedOn,
      note: ({ openedOn, unsuspectedOpenedOn }) => botNote(openedOn, unsuspectedOpenedOn),
    },
    clickedOn: {
      ...text("Clicked"),
      value: ({ clickedOn, unsuspectedClickedOn }) => unsuspectedClickedOn ?? clickedOn,
      note: ({ clickedOn, unsuspectedClickedOn }) => botNote(clickedOn, unsuspectedClickedOn),
    },
    at: { ...time("Last change"), sort: "desc" },
  },
  empty: "No recipients.",
  filledBy: "recipients import",
})
