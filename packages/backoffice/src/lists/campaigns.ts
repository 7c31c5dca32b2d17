import { type CampaignStatus, complaintLevel } from "@outreach/domain/campaigns/Campaign"
import { CampaignId } from "@outreach/domain/Identifier"
import { Struct } from "effect"
import { CampaignReader, type CampaignWithTotals, campaignFilters } from "../campaigns/CampaignReader.ts"
import { formatCount } from "../format.ts"
import { badge, count, id, inOps, list, type Tone, text } from "./List.ts"

export const CAMPAIGN_TONES: Readonly<Partial<Record<CampaignStatus, Tone>>> = { sending: "good", paused: "warning" }

export const toCampaignRow = (campaign: CampaignWithTotals) => ({
  ...campaign,
  ...Struct.pick(campaign.totals, ["recipients", "sent", "complained", "unsubscribed"]),
  complaintLevel: complaintLevel(campaign.totals),
})

const botNote = (unsuspected: number, all: number): string =>
  all === unsuspected ? "" : `${formatCount(all)} with bots`

export const campaigns = list("campaigns list", {
  about: "List campaigns, newest first, with their counts",
  filters: campaignFilters,
  cursor: { id: CampaignId },
  *read(filter, { limit, after }) {
    const rows = yield* (yield* CampaignReader).list({ ...filter, before: after?.id }, limit + 1)
    return rows.map(toCampaignRow)
  },
  columns: {
    id: id("Campaign"),
    programId: id("Program"),
    organizationId: { ...id("Organization"), isOfConsole: true },
    name: inOps,
    kind: inOps,
    status: badge("Status", CAMPAIGN_TONES),
    recipients: count("Imported"),
    published: { ...count("Published"), isOfConsole: true, value: ({ totals }) => totals.published },
    sent: count("Sent"),
    bounced: { ...count("Bounced"), isOfConsole: true, value: ({ totals }) => totals.bounced },
    opened: {
      ...count("Opened"),
      isOfConsole: true,
      value: ({ totals }) => totals.unsuspectedOpened,
      note: ({ totals }) => botNote(totals.unsuspectedOpened, totals.opened),
    },
    clicked: {
      ...count("Clicked"),
      isOfConsole: true,
      value: ({ totals }) => totals.unsuspectedClicked,
      note: ({ totals }) => botNote(totals.unsuspectedClicked, totals.clicked),
    },
    complained: count("Complained"),
    complaintLevel: inOps,
    unsubscribed: inOps,
    windowStart: text("Window"),
    windowEnd: inOps,
    perMinute: {
      ...count("Rate"),
      isOfConsole: true,
      shown: ({ perMinute }) => (perMinute === null ? null : `${formatCount(perMinute)} a minute`),
    },
  },
  empty: "No campaign matches. Clear the filters or create a campaign.",
})
