import { type CampaignId, OrganizationId, SenderId } from "@outreach/domain/Identifier"
import { OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import { ProgramNotFound } from "@outreach/domain/programs/Programs"
import { LinkDomainTaken } from "@outreach/domain/senders/LinkDomainRepository"
import {
  DKIM_OVERLAP_DAYS,
  DKIM_RECORD_DAYS,
  DkimKey,
  RampState,
  Sender,
  verifiedLinkDomain,
} from "@outreach/domain/senders/Sender"
import {
  type NewDkimKey,
  SelectorTaken,
  SenderExists,
  SenderKeyUnreadable,
  SenderNotFound,
  SenderRepository,
} from "@outreach/domain/senders/Senders"
import { Effect, Schema } from "effect"
import { adapter } from "../adapter.ts"
import { SecretCipher } from "../deliveries/SecretCipher.ts"
import { assigned, decodeColumn, decodeRow, decodeRows, equal, first, firstOr, only, rowsOf } from "../rowsOf.ts"

const ramps = rowsOf(RampState, {
  daily: "array_to_string(sender.ramp, ',')",
  sentToday:
    "case when day > cardinality(sender.ramp) then null when ramp_counted_on >= today then ramp_sent else 0 end",
  allowedToday: "sender.ramp[day]",
})
const keys = rowsOf(DkimKey, {
  isSigning: "signs_from is not null and (signs_until is null or signs_until > clock_timestamp())",
  isOver: `coalesce(signs_until < clock_timestamp() - interval '${DKIM_RECORD_DAYS} days', false)`,
})
const { columnsOf, decode } = rowsOf(Sender, {
  linkDomainVerifiedAt: `(
    select verified_at from link_domains link
    where link.organization_id = sender.organization_id and link.domain = sender.link_domain)`,
  ramp: `(
    select ${ramps.json} from date(clock_timestamp() at time zone 'UTC') as today
    cross join lateral ramp_day(ramp_day_number, ramp_counted_on, ramp_sent, today) as day
    where sender.ramp is not null)`,
  keys: `(
    select coalesce(jsonb_agg(${keys.json} order by id desc), '[]') from dkim_keys key
    where key.organization_id = sender.organization_id and key.sender_id = sender.id)`,
})
const columns = columnsOf("sender")
const decodeIds = decodeColumn({ id: SenderId })
const decodeOwner = decodeColumn({ organization_id: OrganizationId })
const decodeOwners = decodeRow({ organization: Schema.Boolean, program: Schema.Boolean })
const decodeCiphertexts = decodeRows({ selector: Schema.String, ciphertext: Schema.Uint8Array })

export const SenderRepositoryPg = adapter(SenderRepository, function* (sql) {
  const cipher = yield* SecretCipher

  const insertKey = ({ organizationId, id }: Pick<Sender, "organizationId" | "id">, key: NewDkimKey) =>
    sql`
        insert into dkim_keys (organization_id, id, sender_id, selector, public_key, ciphertext)
        values (${organizationId}, make_id('dkm'), ${id}, ${key.selector}, ${key.publicKey},
          ${cipher.encrypt(key.privateKey, organizationId)})
        on conflict (organization_id, sender_id, selector) do nothing
        returning 1`

  const find = (senderId: SenderId, locking = sql``) =>
    sql`select ${columns} from senders sender where id = ${senderId} ${locking}`.pipe(
      decode,
      firstOr(SenderNotFound, { senderId }),
    )

  /** Locks a sender until the transaction ends, to serialize changes of its keys. */
  const lock = (senderId: SenderId) => find(senderId, sql`for no key update`)

  /** Reserves a link domain for an organization, unless a different organization has it. */
  const claimLinkDomain = Effect.fnUntraced(function* (organizationId: OrganizationId, domain: string) {
    const owner = yield* sql`
        insert into link_domains (organization_id, domain) values (${organizationId}, ${domain})
        on conflict (domain) do update set domain = excluded.domain returning organization_id`.pipe(decodeOwner, only)
    if (owner !== organizationId) return yield* new LinkDomainTaken({ domain, organizationId: owner })
  })

  /** Deletes unused link domains that were never verified, so that sent e-mails can't contain them. */
  const forgetUnverified = sql`
      delete from link_domains link where verified_at is null and not exists (
        select from senders where organization_id = link.organization_id and link_domain = link.domain)`

  const ofCampaign = Effect.fnUntraced(function* (campaignId: CampaignId) {
    const sender = yield* sql`
        select ${columns} from campaigns campaign
        cross join lateral sender_of(campaign.organization_id, campaign.program_id)
        join senders sender on sender.organization_id = campaign.organization_id and sender.id = sender_id
        where campaign.id = ${campaignId}`.pipe(decode, first)
    return sender ?? null
  })

  return {
    add: Effect.fnUntraced(function* (sender, key) {
      const { organizationId, programId } = sender
      const owners = yield* sql`
          select exists (select from organizations where id = ${organizationId}) as organization,
            ${programId}::text is null
              or exists (select from programs where organization_id = ${organizationId} and id = ${programId}) as program`.pipe(
        decodeOwners,
      )
      if (!owners.organization) return yield* new OrganizationNotFound({ organizationId })
      if (!owners.program) return yield* new ProgramNotFound({ programId: programId! })
      const linkDomain = sender.linkDomain ?? null
      if (linkDomain !== null) yield* claimLinkDomain(organizationId, linkDomain)
      const added = yield* sql`
          insert into senders
            (organization_id, id, program_id, from_name, from_address, reply_to, dkim_domain, bounce_domain, link_domain, ramp)
          values (${organizationId}, ${sender.id}, ${programId}, ${sender.fromName}, ${sender.fromAddress}, ${sender.replyTo},
            ${sender.dkimDomain}, ${sender.bounceDomain}, ${linkDomain}, string_to_array(${sender.ramp ?? null}::text, ',')::int[])
          on conflict (organization_id, coalesce(program_id, '')) do nothing
          returning 1`
      if (added.length === 0) {
        const [existing] = yield* sql`
            select id from senders
            where organization_id = ${organizationId} and coalesce(program_id, '') = coalesce(${programId}::text, '')`.pipe(
          decodeIds,
        )
        const of = programId === null ? `The organization ${organizationId}` : `The program ${programId}`
        return yield* new SenderExists({ senderId: existing ?? "", of })
      }
      yield* insertKey(sender, key)
      return yield* find(sender.id).pipe(Effect.catchTag("SenderNotFound", Effect.die))
    }),

    find: (senderId) => find(senderId),

    list: (organizationId) =>
      sql`
          select ${columns} from senders sender where ${equal({ organization_id: organizationId })} order by sender.id`.pipe(
        decode,
      ),

    update: Effect.fnUntraced(function* (senderId, { fromName, fromAddress, replyTo, bounceDomain, linkDomain, ramp }) {
      const { organizationId } = yield* lock(senderId)
      if (linkDomain != null) yield* claimLinkDomain(organizationId, linkDomain)
      // A new ramp starts at its first day, with today's count of the previous one.
      const newRamp = sql`
          ramp = string_to_array(${ramp ?? null}::text, ',')::int[], ramp_day_number = 1, ramp_counted_on = least(ramp_counted_on, today),
          ramp_sent = case when ramp_counted_on = today and ${ramp ?? null}::text is not null then ramp_sent else 0 end,`
      const updated = yield* sql`
          update senders sender set ${assigned({ fromName, fromAddress, replyTo, bounceDomain, linkDomain })}
            ${ramp === undefined ? sql`` : newRamp} updated_at = clock_timestamp()
          from date(clock_timestamp() at time zone 'UTC') as today
          where organization_id = ${organizationId} and id = ${senderId} returning ${columns}`.pipe(decode, only)
      yield* forgetUnverified
      return updated
    }),

    remove: Effect.fnUntraced(function* (senderId) {
      const rows = yield* sql`delete from senders where id = ${senderId} returning 1`
      if (rows.length === 0) return yield* new SenderNotFound({ senderId })
      yield* forgetUnverified
    }),

    addKey: Effect.fnUntraced(function* (senderId, key) {
      const sender = yield* lock(senderId)
      yield* sql`
          delete from dkim_keys
          where organization_id = ${sender.organizationId} and sender_id = ${senderId} and signs_from is null`
      const added = yield* insertKey(sender, key)
      if (added.length === 0) return yield* new SelectorTaken({ selector: key.selector })
      return yield* find(senderId)
    }),

    activate: Effect.fnUntraced(function* (senderId) {
      const { organizationId } = yield* lock(senderId)
      const activated = yield* sql`
          update dkim_keys set signs_from = clock_timestamp()
          where organization_id = ${organizationId} and sender_id = ${senderId} and signs_from is null
          returning 1`
      if (activated.length > 0) {
        // At most one older key signs in addition to the newest.
        yield* sql`
            update dkim_keys key set signs_until = least(signs_until, clock_timestamp() + case
              when older.rank = 2 then make_interval(days => ${DKIM_OVERLAP_DAYS}::int) else interval '0' end)
            from (
              select id, row_number() over (order by signs_from desc, id desc) as rank from dkim_keys
              where organization_id = ${organizationId} and sender_id = ${senderId}
            ) older
            where key.organization_id = ${organizationId} and key.id = older.id and older.rank > 1`
      }
      yield* sql`
          delete from dkim_keys
          where organization_id = ${organizationId} and sender_id = ${senderId}
            and signs_until < clock_timestamp() - make_interval(days => ${DKIM_RECORD_DAYS}::int)`
      return yield* sql`
          update senders sender set live_since = coalesce(live_since, clock_timestamp())
          where organization_id = ${organizationId} and id = ${senderId} returning ${columns}`.pipe(decode, only)
    }),

    ofCampaign,

    identityOf: Effect.fnUntraced(function* (campaignId) {
      const sender = yield* ofCampaign(campaignId)
      if (sender === null) return null
      const { organizationId, id: senderId, fromName, fromAddress, replyTo, bounceDomain } = sender
      const rows = yield* sql`
          select selector, ciphertext from dkim_keys
          where organization_id = ${organizationId} and sender_id = ${senderId} and signs_from <= clock_timestamp()
            and (signs_until is null or signs_until > clock_timestamp())
          order by id desc`.pipe(decodeCiphertexts)
      // Without a readable key the messages would be unsigned.
      if (rows.length === 0) return yield* new SenderKeyUnreadable({ senderId })
      const keys = yield* Effect.try({
        try: () =>
          rows.map(({ selector, ciphertext }) => ({
            selector,
            privateKey: cipher.decrypt(ciphertext, organizationId),
          })),
        catch: () => new SenderKeyUnreadable({ senderId }),
      })
      const from = { name: fromName, address: fromAddress }
      const dkim = { domain: sender.dkimDomain, keys }
      return { id: senderId, from, replyTo, bounceDomain, linkDomain: verifiedLinkDomain(sender), dkim }
    }),
  }
})
