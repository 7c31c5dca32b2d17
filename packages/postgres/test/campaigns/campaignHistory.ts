import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { commandCampaign, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { publishChunk } from "@outreach/domain/campaigns/publishRecipients"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import type { FunnelStage } from "@outreach/domain/digest/Digest"
import { eraseRecipients } from "@outreach/domain/erasure/Erasures"
import type { RecipientId } from "@outreach/domain/Identifier"
import { reportBounce } from "@outreach/domain/mail/returned/Bounces"
import { Settlements } from "@outreach/domain/mail/Settlements"
import type { MailOutcome, ReportedOutcome } from "@outreach/domain/mail/Transport"
import { RecipientRepository } from "@outreach/domain/recipients/Recipient"
import { markMailed } from "@outreach/domain/restores/Restores"
import { suppressClinicians, withdrawSuppressed } from "@outreach/domain/suppressions/Withdrawals"
import { CampaignCounts } from "@outreach/postgres/campaigns/campaignChanges"
import { type Outcome, outreachOn, qualifyOn } from "@outreach/testing/outreachOn"
import { email, npi } from "@outreach/testing/seedCampaign"
import { claimMessages, sendWith } from "@outreach/testing/sendCampaign"
import { column, sql, withTimestamp } from "@outreach/testing/sql"
import { Effect } from "effect"
import fc from "fast-check"
import type { seed } from "./countCampaign.ts"

const OUTCOMES: ReadonlyArray<MailOutcome> = [
  { _tag: "Accepted" },
  { _tag: "Bounced", reason: "mailbox_not_found" },
  { _tag: "Bounced", reason: "other" },
  { _tag: "Deferred" },
  { _tag: "Refused", status: "550 5.7.1" },
  { _tag: "Unreachable", failure: { class: "slow", code: "ETIMEDOUT at DATA" } },
  { _tag: "Unknown", failure: { class: "reset", code: "ECONNRESET" } },
]

const REPORTS: ReadonlyArray<ReportedOutcome> = [
  { _tag: "Bounced", reason: "mailbox_disabled" },
  { _tag: "Bounced", reason: "other", reply: "554 Failed" },
  { _tag: "Deferred", reply: "451 4.4.7 Expired" },
  { _tag: "Refused", status: "550 5.7.1" },
]

const who = fc.nat({ max: 9 })
export const operation = fc.oneof(
  fc.record({ do: fc.constant("import" as const), first: who }),
  fc.record({ do: fc.constant("publish" as const) }),
  fc.record({ do: fc.constant("send" as const), limit: fc.nat({ max: 4 }), outcome: fc.constantFrom(...OUTCOMES) }),
  fc.record({ do: fc.constant("quarantine" as const) }),
  fc.record({ do: fc.constant("suppress" as const), who }),
  fc.record({
    do: fc.constant("hit" as const),
    who,
    outcome: fc.constantFrom<Outcome>("human opened", "bot opened", "human clicked", "bot clicked"),
  }),
  fc.record({ do: fc.constant("report" as const), who, verdict: fc.constantFrom(...REPORTS) }),
  fc.record({ do: fc.constant("erase" as const), who }),
  fc.record({
    do: fc.constant("qualify" as const),
    who,
    stage: fc.constantFrom<FunnelStage>("account_created", "learner_qualified", "completer_qualified"),
  }),
  fc.record({ do: fc.constant("fields" as const), who, name: fc.string() }),
  fc.record({ do: fc.constant("restore" as const), who }),
  fc.record({ do: fc.constant("fold" as const) }),
  fc.record({ do: fc.constant("wait" as const), minutes: fc.integer({ min: 1, max: 150 }) }),
  fc.record({ do: fc.constant("cancel" as const) }),
)
type Operation = typeof operation extends fc.Arbitrary<infer A> ? A : never

/** Runs a step of a campaign's history. */
export const carryOut = Effect.fnUntraced(function* (
  { campaign, organization }: Effect.Success<typeof seed>,
  operation: Operation,
) {
  // An e-mail can't be opened before its publication.
  const recipientsOf = column<RecipientId>`
    select id from recipients where campaign_id = ${campaign.id} and (${operation.do !== "hit"} or published_at is not null) order by npi`
  const some = Effect.map(recipientsOf, (rows) => ("who" in operation ? rows[operation.who % rows.length]! : rows[0]!))
  switch (operation.do) {
    case "import": {
      const lines = [0, 1, 2].map((n) => ({
        number: n,
        npi: npi(operation.first + n),
        email: email(operation.first + n),
      }))
      return yield* Effect.ignore(importLines(campaign.id, lines))
    }
    case "publish":
      yield* Effect.ignore(scheduleCampaign(campaign.id))
      while (yield* publishChunk()) {}
      return yield* (yield* CampaignRepository).openAndComplete
    case "send":
      yield* sql`update messages set due_at = clock_timestamp() where campaign_id = ${campaign.id} and due_at < 'infinity'`
      yield* sql`update campaign_domains set paused_until = null where campaign_id = ${campaign.id}`
      for (const lease of yield* claimMessages(operation.limit)) yield* sendWith(lease, operation.outcome)
      return
    case "quarantine":
      for (const lease of yield* claimMessages(1)) {
        const failure = { class: "template", code: "needs first_name, which is missing" } as const
        yield* (yield* Settlements).settle(lease, { state: "retry", attempts: 0, delaySeconds: null, failure })
      }
      return
    case "suppress":
      yield* suppressClinicians(
        { organizationId: organization.id },
        [{ npi: npi(operation.who), email: null }],
        "operator",
      )
      return yield* withdrawSuppressed
    case "hit": {
      const recipient = yield* some
      if (recipient === undefined) return
      const hit = [recipient, operation.outcome] as const
      return yield* withTimestamp(organization.id, (at) => outreachOn(at, campaign, [hit]))
    }
    case "report":
      return yield* reportBounce(yield* some, operation.verdict)
    case "erase":
      return yield* eraseRecipients(organization.id, [yield* some])
    case "qualify": {
      const clinician = { programId: campaign.programId, stage: operation.stage, npi: npi(operation.who) }
      return yield* withTimestamp(organization.id, (at) => qualifyOn(organization.id, [clinician], at))
    }
    case "fields": {
      const clinician = { npi: npi(operation.who), fields: { first_name: operation.name.replaceAll("\0", "") } }
      const key = { organizationId: organization.id, campaignId: campaign.id }
      return yield* (yield* RecipientRepository).keepFields(key, [clinician])
    }
    case "restore":
      return yield* markMailed([yield* some])
    case "fold":
      return yield* (yield* CampaignCounts).fold
    case "wait":
      // Later timestamps continue from this time.
      return yield* sql`
        update organization_clock set last = greatest(last, clock_timestamp()) + make_interval(mins => ${operation.minutes}::int)
        where organization_id = ${organization.id}`
    case "cancel":
      return yield* Effect.ignore(commandCampaign(campaign.id, "pause"))
  }
})
