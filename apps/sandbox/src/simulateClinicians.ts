import { createHash } from "node:crypto"
import type { EventOf, WebhookEvent } from "@outreach/webhook-verifier"
import { signWebhook } from "@outreach/webhook-verifier/testing"
import { Effect, Schedule } from "effect"
import type { Pool } from "pg"
import { behaviorOf } from "./behaviorOf.ts"

/** What a clinician does on the partner's platform, one after the other. */
const STAGES = ["account_created", "learner_qualified", "completer_qualified"] as const

/** The clinicians that the sample partner plays, in a table of its own. */
export const VISITORS = `
  create table if not exists sample_partner.visitors (
    token text primary key,
    npi text not null,
    email text not null,
    program_slug text not null,
    clicked boolean not null default false,
    stage integer not null default 0
  )`

/** Stores from an event who will visit the partner's platform: a batch names the clinicians, and each comes after a click. */
export const noteVisitors = async (pool: Pool, event: WebhookEvent): Promise<void> => {
  if (event.event_type === "outreach.recipients_published") {
    const { recipients, consumer_program_slug: slug } = (event as EventOf<"outreach.recipients_published">).data
    const chosen = recipients.filter(({ email }) => behaviorOf(email).stages > 0)
    await pool.query(
      `insert into sample_partner.visitors (token, npi, email, program_slug)
       select *, $4 from unnest($1::text[], $2::text[], $3::text[]) on conflict do nothing`,
      [chosen.map(({ token }) => token), chosen.map(({ npi }) => npi), chosen.map(({ email }) => email), slug],
    )
  }
  if (event.event_type === "outreach.email_clicked") {
    const { token } = (event as EventOf<"outreach.email_clicked">).data
    await pool.query("update sample_partner.visitors set clicked = true where token = $1", [token])
  }
}

/** Counts the events of earlier runs that the service has taken, by stage. */
export const countTold = async (pool: Pool): Promise<Record<string, number>> => {
  const { rows } = await pool.query<{ stage: number; count: number }>(
    "select stage, count(*)::int as count from sample_partner.visitors where stage > 0 group by stage",
  )
  const reached = (least: number) => rows.reduce((sum, { stage, count }) => sum + (stage >= least ? count : 0), 0)
  return Object.fromEntries(
    STAGES.map((name, index) => [name, reached(index + 1)] as const).filter(([, count]) => count > 0),
  )
}

/** Plays the clinicians on the partner's platform until interrupted, and sends the service a signed webhook for each stage; `told` is called with each. */
export const simulateClinicians = (
  pool: Pool,
  options: {
    readonly inboundUrl: string
    readonly secrets: () => readonly string[]
    readonly told: (stage: (typeof STAGES)[number]) => void
  },
): Effect.Effect<never> =>
  Effect.tryPromise(async (signal) => {
    const { rows } = await pool.query<Clinician>(
      "select token, npi, email, program_slug, stage from sample_partner.visitors where clicked and stage < 3",
    )
    for (const clinician of rows.filter(({ email, stage }) => stage < behaviorOf(email).stages)) {
      const stage = STAGES[clinician.stage]!
      const { headers, body } = signWebhook(eventOf(clinician, stage), options.secrets())
      const { status } = await fetch(options.inboundUrl, { method: "POST", headers, body, signal })
      // Whatever else it says, it is told again: the id is the same, so it counts once.
      if (status !== 200) return
      await pool.query("update sample_partner.visitors set stage = stage + 1 where token = $1", [clinician.token])
      options.told(stage)
    }
  }).pipe(Effect.ignore, Effect.repeat(Schedule.spaced("1 second")), Effect.andThen(Effect.never))

interface Clinician {
  readonly token: string
  readonly npi: string
  readonly email: string
  readonly program_slug: string
  readonly stage: number
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex")

const eventOf = ({ token, npi, email, program_slug }: Clinician, stage: (typeof STAGES)[number]) => {
  const now = new Date().toISOString()
  return {
    object: "event",
    livemode: false,
    event_id: `evt_${digest(`${token} ${stage}`).slice(0, 32)}`,
    event_type: `clinician.${stage}`,
    event_version: 1,
    occurred_at: now,
    emitted_at: now,
    source: "consumer",
    data: {
      npi,
      consumer_program_slug: program_slug,
      token,
      ...(stage === "account_created" && { email, attribution: "service_token" }),
    },
    metadata: null,
  }
}
