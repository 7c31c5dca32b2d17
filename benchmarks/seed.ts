import { Deployment } from "@outreach/domain/Deployment"
import { OrganizationId } from "@outreach/domain/Identifier"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { runMigrations } from "@outreach/postgres/migrations/runMigrations"
import { ApiKeyRepositoryPg } from "@outreach/postgres/organizations/ApiKeyRepositoryPg"
import { databaseAt, databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { KEY_RECIPIENTS } from "@outreach/testing/outreachOn"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import postgres from "postgres"

/** The keys, tokens and times of the workloads. */
export interface Seeded {
  /** Enough keys that, used in turn, no key exceeds its rate limit at up to 30,000 requests per second. */
  readonly keys: readonly string[]
  /** Tokens of the smaller organization, in random order. */
  readonly tokens: readonly string[]
  /** Values of `since` for lists of the smaller organization. Each is followed by a full page. */
  readonly times: readonly string[]
  /** Keys of the larger organization, one for every hundred requests of the depth workload. */
  readonly deepKeys: readonly string[]
}

const SMALL = OrganizationId.make("org_01980000000070008000000000000001")
const LARGE = OrganizationId.make("org_01980000000070008000000000000002")

/** Migrates an empty database, and fills it with two organizations' keys, recipients and events. */
export async function seed(
  url: string,
  options: { readonly recipients: number; readonly deepRecipients: number },
): Promise<Seeded> {
  const layer = Layer.mergeAll(
    ApiKeyRepositoryPg,
    SecureRandom.layerWebCrypto,
    Layer.succeed(Deployment, { livemode: false }),
  ).pipe(Layer.provideMerge(databaseLayer({ database: databaseAt(url), applicationName: "benchmark" })))
  await Effect.runPromise(Effect.provide(runMigrations(), layer))
  const sql = postgres(url, { max: 1, onnotice: () => {}, connection: { TimeZone: "UTC" } })
  try {
    await fill(sql, SMALL, options.recipients)
    await fill(sql, LARGE, options.deepRecipients)
    const keys = await Effect.runPromise(Effect.provide(issueKeys(SMALL, 18_000), layer))
    const deepKeys = await Effect.runPromise(Effect.provide(issueKeys(LARGE, 100), layer))
    // All keys are in use already, because a usual request does not update `last_used_at`.
    await sql`update api_keys set last_used_at = clock_timestamp()`
    await sql`vacuum analyze`
    await sql`checkpoint`
    const tokens = await sql`
      select token from recipients where organization_id = ${SMALL} order by md5(id) limit 20000`
    const times = await sql`
      select distinct to_char(updated_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as time from recipients
      where organization_id = ${SMALL} and updated_at < (
        select updated_at from recipients where organization_id = ${SMALL} order by updated_at desc offset 200 limit 1)`
    return { keys, deepKeys, tokens: tokens.map(({ token }) => token), times: times.map(({ time }) => time) }
  } finally {
    await sql.end()
  }
}

const issueKeys = (organizationId: OrganizationId, count: number) =>
  Effect.forEach(
    Array.from({ length: count }),
    () =>
      Effect.map(
        issueKey({ organizationId, name: "benchmark", scopes: ["tokens:read", "events:read"], expiresAt: null }),
        ({ text }) => Redacted.value(text),
      ),
    { concurrency: 10 },
  )

/** Creates an organization with recipients as they are after an import in batches and the sending of a campaign. */
async function fill(sql: postgres.Sql, organization: string, recipients: number): Promise<void> {
  const [program, campaign] = ["pgm_0198000000017000800000000000000a", "cmp_0198000000027000800000000000000b"]
  await sql`insert into organizations (id, name) values (${organization}, 'Benchmark')`
  await sql`
    insert into programs (organization_id, id, slug, name)
    values (${organization}, ${program}, 'heart-failure', 'Heart failure in primary care')`
  await sql`
    insert into campaigns (organization_id, id, program_id, name, kind, status, subject, html, window_start, window_end)
    values (${organization}, ${campaign}, ${program}, 'Spring invitation', 'traffic', 'completed', 'An invitation', '<p></p>',
      '2026-03-02', '2026-03-09')`
  // Tokens step through all 62⁶ values, because the step is coprime to it. Each 20 rows share a timestamp, like outcomes settled in one batch.
  await sql`
    insert into recipients (organization_id, id, campaign_id, program_id, token, npi, email, created_at, updated_at,
      published_at, sent_at, bounced_at, last_event_at)
    select ${organization}, 'rcp_0198' || lpad(to_hex(n / 500), 8, '0') || '7' || substr(hash, 1, 3) || '8' || substr(hash, 4, 15),
      ${campaign}, ${program},
      (select string_agg(substr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
        1 + (n::bigint * 30817200007 % 56800235584 / (62 ^ place)::bigint % 62)::int, 1), '') from generate_series(0, 5) as place),
      (1000000000 + n * 8)::text,
      'clinician.' || substr(hash, 1, 8) || n || '@hospital-' || n % 997 || '.test',
      imported, settled, imported + interval '1 day', settled, case when n % 40 = 0 then settled end,
      case when n % 5 < 4 then settled end
    from generate_series(1, ${recipients}::int) as n, md5(n::text) as hash,
      lateral (select timestamptz '2026-03-01 09:00:00.000417Z' + n / 500 * interval '61.003 ms' as imported,
        timestamptz '2026-03-02 09:00:00.000219Z' + n / 20 * interval '1.733 s' as settled) as stamps`
  await sql.unsafe(KEY_RECIPIENTS)
  // The event of each recipient's e-mail, in the format of the API's events.
  await sql`
    insert into events (organization_id, id, type, campaign_id, program_id, recipient_id, occurred_at, emitted_at, body)
    select organization_id, event, type, campaign_id, program_id, id, sent_at, updated_at, format(
      '{"object":"event","livemode":false,"event_id":"%s","event_type":"%s","event_version":1,"occurred_at":"%s","emitted_at":"%s",'
      '"source":"service","data":{"service_recipient_id":"%s","service_campaign_id":"%s","token":"%s"%s},"metadata":null}',
      event, type, stamp, stamp, id, campaign_id, token, reason)
    from recipients, lateral (select 'evt' || substr(id, 4) as event,
      to_char(updated_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as stamp,
      case when bounced_at is null then 'outreach.email_sent' else 'outreach.email_bounced' end as type,
      case when bounced_at is null then '' else ',"bounce_reason":"mailbox_not_found"' end as reason) as outcome
    where organization_id = ${organization}`
}
