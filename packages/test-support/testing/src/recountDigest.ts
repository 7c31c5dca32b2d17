import { FunnelCounts } from "@outreach/domain/digest/Digest"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { DIGEST_COLUMNS } from "@outreach/postgres/digest/digestColumns"
import { Effect, Struct } from "effect"
import { sql } from "./sql.ts"

type Counts = Readonly<Record<string, unknown>> | null

interface CountedEvent {
  readonly program: string
  readonly recipient: string | null
  readonly type: string
  readonly data: { readonly recipients?: ReadonlyArray<unknown>; readonly is_bot_suspected?: boolean }
}

/** Counts a UTC date of an organization again from its events and qualifications, and returns each count of its digest that differs. */
export const recountDigest = Effect.fnUntraced(function* (date: string, organizationId: OrganizationId) {
  const programs = yield* sql<{ program: string; outreach: Counts; funnel: Counts }>`
    select program.id as program, to_jsonb(outreach) as outreach, to_jsonb(funnel) as funnel from programs program
    left join digest_outreach outreach
      on outreach.organization_id = program.organization_id and outreach.program_id = program.id and outreach.date = ${date}::date
    left join lateral (
      select * from digest_funnel
      where organization_id = program.organization_id and program_id = program.id and date <= ${date}::date
      order by date desc limit 1
    ) funnel on true
    where program.organization_id = ${organizationId} order by program.id`
  const events = yield* sql<CountedEvent>`
    select program_id as program, recipient_id as recipient, type, body::jsonb->'data' as data from events
    where organization_id = ${organizationId} and (emitted_at at time zone 'UTC')::date = ${date}::date`
  const qualifications = yield* sql<{ program: string; stage: string; counted: string }>`
    select program_id as program, stage, (counted_at at time zone 'UTC')::date::text as counted from qualifications
    where organization_id = ${organizationId} and (counted_at at time zone 'UTC')::date <= ${date}::date`

  return programs.flatMap(({ program, outreach, funnel }) => {
    const ofType = (type: string) => events.filter((event) => event.program === program && event.type === type)
    const published = ofType("outreach.recipients_published").flatMap(({ data }) => data.recipients ?? []).length
    const outcomes = DIGEST_COLUMNS.map(({ name, type, isUnique, isUnsuspected }) => {
      const meant = ofType(type).filter(({ data }) => !(isUnsuspected && data.is_bot_suspected))
      return [name, isUnique ? new Set(meant.map(({ recipient }) => recipient)).size : meant.length] as const
    })
    const stages = Struct.keys(FunnelCounts.fields).flatMap((stage) => {
      const reached = qualifications.filter((each) => each.program === program && each.stage === stage)
      const ofDate = reached.filter(({ counted }) => counted === date)
      return [[stage, ofDate.length] as const, [`${stage}_total`, reached.length] as const]
    })
    // The newest funnel can be of an earlier date. Then only its totals count.
    const isOlder = funnel?.["date"] !== date
    const stored = (count: string) =>
      outreach?.[count] ?? (isOlder && !count.endsWith("_total") ? undefined : funnel?.[count]) ?? 0
    return [["recipients_published", published] as const, ...outcomes, ...stages]
      .map(([count, counted]) => ({ programId: program, count, stored: stored(count), counted }))
      .filter(({ stored, counted }) => stored !== counted)
  })
})
