import { createHash } from "node:crypto"
import type { Client, OutboundEvent } from "@outreach/client"
import type { WebhookEvent } from "@outreach/webhook-verifier"
import { sampleEvent } from "@outreach/webhook-verifier/testing"
import { Effect, Schedule } from "effect"
import type { Pool } from "pg"
import { behaviorOf } from "./behaviorOf.ts"

/** The stages that a clinician passes on the partner's platform, in order. */
const STAGES = ["account_created", "learner_qualified", "completer_qualified"] as const

/** Creates the table of the clinicians that the sample partner simulates. */
export const VISITORS = `
  create table if not exists sample_partner.visitors (
    token text primary key,
    npi text not null,
    email text not null,
    program_slug text not null,
    clicked boolean not null default false,
    stage integer not null default 0
  )`

/** Stores the future visitors of the partner's platform: `recipients_published` names them, and `email_clicked` lets them visit. */
export const storeVisitors = async (pool: Pool, event: WebhookEvent): Promise<void> => {
  if (event.event_type === "outreach.recipients_published") {
    const { recipients, consumer_program_slug: slug } = event.data
    const chosen = recipients.filter(({ email }) => behaviorOf(email).stages > 0)
    await pool.query(
      `insert into sample_partner.visitors (token, npi, email, program_slug)
       select *, $4 from unnest($1::text[], $2::text[], $3::text[]) on conflict do nothing`,
      [chosen.map(({ token }) => token), chosen.map(({ npi }) => npi), chosen.map(({ email }) => email), slug],
    )
  }
  if (event.event_type === "outreach.email_clicked") {
    await pool.query("update sample_partner.visitors set clicked = true where token = $1", [event.data.token])
  }
}

/** Counts the events that the service has accepted in earlier runs, by stage. */
export const countAccepted = async (pool: Pool): Promise<Record<string, number>> => {
  const { rows } = await pool.query<{ stage: number; count: number }>(
    "select stage, count(*)::int as count from sample_partner.visitors where stage > 0 group by stage",
  )
  const reached = (min: number) => rows.reduce((sum, { stage, count }) => sum + (stage >= min ? count : 0), 0)
  return Object.fromEntries(
    STAGES.map((name, index) => [name, reached(index + 1)] as const).filter(([, count]) => count > 0),
  )
}

/**
 * Simulates the clinicians on the partner's platform until interrupted. Sends the service a signed webhook for each stage, and
 * calls `onAccepted` once the service has accepted it.
 */
export const simulateClinicians = (
  pool: Pool,
  options: {
    readonly client: Client
    readonly endpointId: string
    readonly secrets: readonly string[]
    readonly onAccepted: (stage: (typeof STAGES)[number]) => void
  },
): Effect.Effect<never> =>
  Effect.tryPromise(async (signal) => {
    const { rows } = await pool.query<Clinician>(
      "select token, npi, email, program_slug, stage from sample_partner.visitors where clicked and stage < 3",
    )
    for (const clinician of rows.filter(({ email, stage }) => stage < behaviorOf(email).stages)) {
      const stage = STAGES[clinician.stage]!
      // After an error the event is sent again. It counts once, because its id is the same.
      await options.client.sendEvent(options.endpointId, eventOf(clinician, stage), {
        secrets: options.secrets,
        signal,
      })
      await pool.query("update sample_partner.visitors set stage = stage + 1 where token = $1", [clinician.token])
      options.onAccepted(stage)
    }
  }).pipe(Effect.ignore, Effect.repeat(Schedule.spaced("1 second")), Effect.andThen(Effect.never))

interface Clinician {
  readonly token: string
  readonly npi: string
  readonly email: string
  readonly program_slug: string
  readonly stage: number
}

const eventOf = ({ token, npi, email, program_slug }: Clinician, stage: (typeof STAGES)[number]): OutboundEvent => {
  const digest = createHash("sha256").update(`${token} ${stage}`).digest("hex")
  const sample = sampleEvent(`clinician.${stage}`, { eventId: `evt_${digest.slice(0, 32)}` })
  const clinician = { npi, consumer_program_slug: program_slug, token }
  const data = stage === "account_created" ? { ...clinician, email, attribution: "service_token" } : clinician
  return { ...sample, data, metadata: null } as OutboundEvent
}
