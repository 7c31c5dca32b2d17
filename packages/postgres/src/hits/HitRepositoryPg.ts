import {
  EARLIER_HITS_SECONDS,
  HitRepository,
  MAX_EARLIER_HITS,
  MAX_HITS_PER_MINUTE,
  MAX_JUDGMENT_DELAY_SECONDS,
  WaitingHit,
} from "@outreach/domain/hits/Hits"
import { OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { networkOf } from "@outreach/domain/networkOf"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Clock, Effect, Schema } from "effect"
import { adapter } from "../adapter.ts"
import { Hints } from "../events/Hints.ts"
import { decodeColumn, decodeValue, hidden, literal, rowsOf, toTable } from "../rowsOf.ts"

const waitingHits = rowsOf(WaitingHit, {
  campaignId: "recipient.campaign_id",
  programId: "recipient.program_id",
  token: "recipient.token",
  at: "extract(epoch from hit.received_at)::double precision",
  // A timestamp ahead of the clock isn't the time at which the mailbox accepted the message.
  acceptedAt:
    "case when recipient.sent_at <= clock_timestamp() then extract(epoch from recipient.sent_at)::double precision end",
  earlierHits: `coalesce((
    select jsonb_agg(jsonb_build_object('link', link, 'at', extract(epoch from received_at)))
    from (
      select link, received_at from hits earlier
      where earlier.organization_id = hit.organization_id and earlier.recipient_id = hit.recipient_id
        and earlier.received_at between hit.received_at - make_interval(secs => ${EARLIER_HITS_SECONDS}) and hit.received_at
        and earlier.kind = 'click' and earlier.id <> hit.id
      order by received_at desc limit ${MAX_EARLIER_HITS}
    ) latest
  ), '[]')`,
})
/** Hits above the limit per link and minute; `link` is empty for the pixel. */
const repeatedHits = rowsOf(
  Schema.Struct({
    ...{ organizationId: OrganizationId, recipientId: RecipientId, link: Schema.String },
    ...{ windowStart: Timestamp, count: Schema.Int },
  }),
  { count: "count(*)::int" },
)
const decodeClock = decodeValue({ now: Schema.Number })
const decodeOrganizations = decodeColumn({ id: OrganizationId })
const decodeRecipients = decodeColumn({ id: RecipientId })

export const HitRepositoryPg = adapter(HitRepository, function* (sql) {
  const hints = yield* Hints
  return {
    record: Effect.fnUntraced(function* (hits) {
      // A separate statement, because the insert may wait for a lock before it reads the clock.
      const now = yield* sql`
        select extract(epoch from clock_timestamp())::double precision * 1000 as now`.pipe(decodeClock)
      const ahead = now - (yield* Clock.currentTimeMillis)
      const rows = hits.map((hit) => ({
        ...hit,
        link: hit.link ?? "",
        network: networkOf(hit.address),
        headers: JSON.stringify(hit.headers),
        receivedAt: hit.cameAt + ahead,
      }))
      // The window's row is locked until its hits are stored, so that processes share the count.
      const repeated = yield* sql`
        with hit as materialized (
          select * from ${toTable("hit", rows, {
            ...{ organizationId: "text", id: "text", recipientId: "text", link: "text", method: "text" },
            ...{ address: "text", network: "text", headers: "text", receivedAt: "float8" },
          })}
        ), known as materialized (
          -- Locked in order. An erasure waits for these hits, or these hits see the erased recipient.
          select recipient.id from (select distinct organization_id, recipient_id from hit order by 1, 2) wanted
          cross join lateral (
            select id from recipients
            where organization_id = wanted.organization_id and id = wanted.recipient_id and erased_at is null
            limit 1 for key share
          ) recipient
        ), given as materialized (
          select hit.*, came_at, date_trunc('minute', came_at) as window_start, sha256(convert_to(link, 'UTF8')) as link_hash
          from hit
          cross join lateral (select to_timestamp(received_at / 1000) as came_at) time
          where recipient_id = any (array(select id from known))
            -- A scalar subselect forces a look-up by key; a join may read the whole table.
            and (select id from hits where hits.organization_id = hit.organization_id and hits.id = hit.id) is null
        ), of_network as (${countHits("given", "network")}), numbered as (
          select given.*, hits + 1 - row_number() over (
            partition by window_start, organization_id, recipient_id, link_hash, network order by came_at desc, id desc
          ) <= ${MAX_HITS_PER_MINUTE.network} as is_admitted
          -- Every row has a window. The planner may choose a nested loop of a thousand times a thousand rows for an inner join.
          from given full join of_network using (window_start, organization_id, recipient_id, link_hash, network)
        ),
        -- Counted over all networks, so that a flood from one network leaves room for the other networks.
        of_link as (${countHits("numbered where is_admitted", "'*'")}), decided as (
          select numbered.*, is_admitted and hits + 1 - row_number() over (
            partition by window_start, organization_id, recipient_id, link_hash, is_admitted order by came_at desc, id desc
          ) <= ${MAX_HITS_PER_MINUTE.link} as is_kept
          from numbered full join of_link using (window_start, organization_id, recipient_id, link_hash)
        ), stored as (
          insert into hits (organization_id, id, recipient_id, kind, link, method, address, headers, received_at)
          select organization_id, id, recipient_id, case when link = '' then 'open' else 'click' end, nullif(link, ''), method,
            address, headers::jsonb, came_at
          from decided where is_kept
          on conflict (organization_id, id) do nothing
        )
        select ${repeatedHits.columns} from decided where not is_kept
        group by organization_id, recipient_id, link, window_start`.pipe(repeatedHits.decode)
      yield* hints.give("hits")
      if (repeated.length === 0) return
      // A separate statement, because classifying the last stored hit locks it while waiting for its recipient.
      yield* sql`
        update hits set repeats = repeats + counted.count
        from (
          select last.*, repeated.count
          from ${toTable("repeated", repeated, {
            ...{ organizationId: "text", recipientId: "text", link: "text" },
            ...{ windowStart: "timestamptz", count: "int" },
          })}
          cross join lateral (
            select organization_id, id from hits
            where organization_id = repeated.organization_id and recipient_id = repeated.recipient_id
              and received_at >= window_start and received_at < window_start + interval '1 minute'
              and coalesce(link, '') = repeated.link
            order by received_at desc, id desc limit 1
          ) last
        ) counted
        where hits.organization_id = counted.organization_id and hits.id = counted.id`
    }),

    waiting: sql`
      select id from organizations
      where exists (select from hits where organization_id = organizations.id and judged_at is null)
      order by id`.pipe(decodeOrganizations),

    // Not decoded: decoding costs about 1.3 µs per row.
    lockWaiting: (organizationId, limit) =>
      sql`
        select ${waitingHits.columnsOf("hit")}
        from hits hit
        join recipients recipient on recipient.organization_id = hit.organization_id and recipient.id = hit.recipient_id
        where hit.organization_id = ${hidden(organizationId)} and hit.judged_at is null
          and (recipient.sent_at is not null or hit.received_at < clock_timestamp() - make_interval(secs => ${MAX_JUDGMENT_DELAY_SECONDS}::double precision))
        order by hit.received_at, hit.id limit ${limit} for update of hit skip locked`.values.pipe(
        Effect.map((rows) => rows.map(waitingHits.fromValues)),
      ),

    // One statement: the hits are already locked, so only the recipients' locks have an order.
    markJudged: (organizationId, judged) => {
      const rows = judged.map(({ id, reasons, event: { recipientId } }) => ({
        id,
        recipientId,
        reasons: reasons.join(),
      }))
      return sql`
        with judged as materialized (
          select * from ${toTable("judged", rows, { id: "text", recipientId: "text", reasons: "text" })}
        ), marked as (
          update hits set judged_at = clock_timestamp(), reasons = string_to_array(judged.reasons, ',')
          from judged where organization_id = ${organizationId} and hits.id = judged.id
        )
        select id from recipients
        where organization_id = ${organizationId} and id = any (array(select recipient_id from judged)) and erased_at is null
        order by id for update`.pipe(
        decodeRecipients,
        Effect.map((recipients) => new Set(recipients)),
      )
    },
  }
})

/** Adds the hits of `rows` to the counts of their windows, in key order, and returns these. */
const countHits = (rows: string, network: string) =>
  literal(`
    insert into hit_windows as kept (window_start, organization_id, recipient_id, link_hash, network, hits)
    select window_start, organization_id, recipient_id, link_hash, ${network}, count(*) from ${rows} group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    on conflict (window_start, organization_id, recipient_id, link_hash, network) do update set hits = kept.hits + excluded.hits
    returning *`)
