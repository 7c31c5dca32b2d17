import { WORKER_TRANSITIONS } from "@outreach/domain/campaigns/Campaign"
import { SubjectFigures, SubjectTestState } from "@outreach/domain/campaigns/SubjectTest"
import { SubjectTestRepository } from "@outreach/domain/campaigns/SubjectTestRepository"
import { CampaignId, OrganizationId } from "@outreach/domain/Identifier"
import { TestSubject } from "@outreach/domain/mail/Message"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { adapter } from "../adapter.ts"
import { Hints } from "../events/Hints.ts"
import { bringTurnForward } from "../mail/bringTurnForward.ts"
import { decodeRows, first } from "../rowsOf.ts"

const SENDING = WORKER_TRANSITIONS.open.to

const decodeKeys = decodeRows({ organizationId: OrganizationId, campaignId: CampaignId })
const decodeStates = decodeRows(SubjectTestState.fields)
const decodeFigures = decodeRows(SubjectFigures.fields)
const decodeUndecided = decodeRows({
  ...{ organizationId: OrganizationId, campaignId: CampaignId },
  ...{ beganAt: Timestamp, afterSeconds: Schema.Int, windowEnd: Timestamp, now: Schema.Number },
})
const decodeCounts = decodeRows({ testSubject: TestSubject, sent: Schema.Int, clicked: Schema.Int })

export const SubjectTestRepositoryPg = adapter(SubjectTestRepository, function* (sql) {
  const hints = yield* Hints

  return {
    create: ({ organizationId, campaignId }, { subjectB, share, afterSeconds }) =>
      sql`
          insert into subject_tests (organization_id, campaign_id, subject_b, share, after_seconds)
          values (${organizationId}, ${campaignId}, ${subjectB}, ${share}::int, ${afterSeconds}::int)`,

    find: ({ organizationId, campaignId }) =>
      sql`
          select subject_b as "subjectB", share, after_seconds as "afterSeconds", began_at as "beganAt", winner,
            decided_at as "decidedAt", counts
          from subject_tests where organization_id = ${organizationId} and campaign_id = ${campaignId}`.pipe(
        decodeStates,
        first,
      ),

    figures: ({ organizationId, campaignId }) =>
      sql`
          select nullif(subject, '') as "testSubject", sum(recipients)::int as recipients, sum(sent)::int as sent,
            sum(opened)::int as "uniqueOpened", sum(clicked)::int as "uniqueClicked",
            sum(unsuspected_opened)::int as "unsuspectedUniqueOpened", sum(unsuspected_clicked)::int as "unsuspectedUniqueClicked"
          from counts_of_campaign(${organizationId}, ${campaignId})
          group by subject having sum(recipients) > 0 order by nullif(subject, '') nulls last`.pipe(decodeFigures),

    undecided: sql`
        select test.organization_id as "organizationId", campaign_id as "campaignId", began_at as "beganAt",
          after_seconds as "afterSeconds", window_end as "windowEnd",
          extract(epoch from clock_timestamp())::double precision * 1000 as now
        from campaigns campaign
        join subject_tests test on test.organization_id = campaign.organization_id and test.campaign_id = campaign.id
        where campaign.status = ${SENDING} and winner is null and after_seconds is not null and began_at is not null
          and window_end > clock_timestamp()
        order by began_at, campaign_id`.pipe(decodeUndecided),

    // The campaign first, as a publication locks it: a recipient that it publishes either counts or sees the winner.
    lockUndecided: Effect.fnUntraced(function* ({ organizationId, campaignId }) {
      const locked = yield* sql`
          select from campaigns where organization_id = ${organizationId} and id = ${campaignId} and status = ${SENDING}
          for no key update skip locked`
      if (locked.length === 0) return undefined
      const undecided = yield* sql`
          select from subject_tests
          where organization_id = ${organizationId} and campaign_id = ${campaignId} and winner is null for update`
      if (undecided.length === 0) return undefined
      const rows = yield* sql`
          select test_subject as "testSubject", count(*)::int as sent, count(unsuspected_clicked_on)::int as clicked
          from recipients recipient
          where recipient.organization_id = ${organizationId} and recipient.campaign_id = ${campaignId}
            and test_subject is not null and sent_at is not null
          group by test_subject`.pipe(decodeCounts)
      const of = (subject: TestSubject) => {
        const { sent = 0, clicked = 0 } = rows.find(({ testSubject }) => testSubject === subject) ?? {}
        return { sent, clicked }
      }
      return { a: of("a"), b: of("b") }
    }),

    decide: ({ organizationId, campaignId }, winner, counts) =>
      sql`
          update subject_tests set winner = ${winner}, decided_at = clock_timestamp(), counts = ${JSON.stringify(counts)}::jsonb
          where organization_id = ${organizationId} and campaign_id = ${campaignId} and winner is null`,

    // A quarantined message is due at infinity as well, and stays so. Messages are locked in the order of their recipients, as everywhere.
    release: Effect.fnUntraced(function* (limit) {
      const [test] = yield* sql`
          select organization_id as "organizationId", campaign_id as "campaignId" from subject_tests
          where winner is not null and released_at is null limit 1 for update skip locked`.pipe(decodeKeys)
      if (test === undefined) return undefined
      const { organizationId, campaignId } = test
      const released = yield* sql`
          with waiting as materialized (
            select recipient_id from messages
            where organization_id = ${organizationId} and campaign_id = ${campaignId} and due_at = 'infinity' and quarantined_at is null
            order by recipient_id limit ${limit} for update
          )
          update messages message set due_at = clock_timestamp() from waiting
          where message.organization_id = ${organizationId} and message.recipient_id = waiting.recipient_id
          returning 1`
      if (released.length < limit) {
        yield* sql`
            update subject_tests set released_at = clock_timestamp()
            where organization_id = ${organizationId} and campaign_id = ${campaignId}`
      }
      return { ...test, count: released.length }
    }),

    bringForward: ({ organizationId, campaignId }) =>
      Effect.andThen(bringTurnForward(organizationId, campaignId, 0), hints.give("messages", organizationId)).pipe(
        Effect.provideService(SqlClient.SqlClient, sql),
      ),
  }
})
