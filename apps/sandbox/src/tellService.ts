import { createHash } from "node:crypto"
import type { EventOf, WebhookEvent } from "@outreach/webhook-verifier"
import { signWebhook } from "@outreach/webhook-verifier/testing"
import { Effect, Schedule } from "effect"
import type { Pool } from "pg"

/** What a clinician does on the partner's platform, one after the other. */
const STAGES = ["account_created", "learner_qualified", "completer_qualified"] as const

/** How many of a hundred who were written to come how far, at least. */
const OF_A_HUNDRED = [6, 3, 1] as const

/** The clinicians whom the sample partner plays, in a table of its own. */
export const CLINICIANS = `
  create table if not exists sample_partner.clinicians (
    token text primary key,
    npi text not null,
    email text not null,
    program_slug text not null,
    written_to boolean not null default false,
    stage integer not null default 0
  )`

/** Notes, of an event, who will come to the partner's platform: it knows them by the batch that was published, and comes once they were written to. */
export const noteClinicians = async (pool: Pool, event: WebhookEvent): Promise<void> => {
  if (event.event_type === "outreach.recipients_published") {
    const { recipients, consumer_program_slug: slug } = (event as EventOf<"outreach.recipients_published">).data
    const chosen = recipients.filter(({ token }) => stagesOf(token) > 0)
    await pool.query(
      `insert into sample_partner.clinicians (token, npi, email, program_slug)
       select *, $4 from unnest($1::text[], $2::text[], $3::text[]) on conflict do nothing`,
      [chosen.map(({ token }) => token), chosen.map(({ npi }) => npi), chosen.map(({ email }) => email), slug],
    )
  }
  if (event.event_type === "outreach.email_sent") {
    const { token } = (event as EventOf<"outreach.email_sent">).data
    await pool.query("update sample_partner.clinicians set written_to = true where token = $1", [token])
  }
}

/** Tells the service, with signed webhooks, what clinicians do on the partner's platform, until interrupted; `told` hears of each. */
export const tellService = (
  pool: Pool,
  options: {
    readonly inboundUrl: string
    readonly secrets: () => readonly string[]
    readonly told: (stage: (typeof STAGES)[number]) => void
  },
): Effect.Effect<never> =>
  Effect.tryPromise(async (signal) => {
    const { rows } = await pool.query<Clinician>(
      "select token, npi, email, program_slug, stage from sample_partner.clinicians where written_to and stage < 3",
    )
    for (const clinician of rows.filter(({ token, stage }) => stage < stagesOf(token))) {
      const stage = STAGES[clinician.stage]!
      const { headers, body } = signWebhook(eventOf(clinician, stage), options.secrets())
      const { status } = await fetch(options.inboundUrl, { method: "POST", headers, body, signal })
      // Whatever else it says, it is told again: the id is the same, so it counts once.
      if (status !== 200) return
      await pool.query("update sample_partner.clinicians set stage = stage + 1 where token = $1", [clinician.token])
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

/** Decides how far a clinician comes, always the same. */
export const stagesOf = (token: string): number => {
  const lot = Number.parseInt(digest(token).slice(0, 8), 16) % 100
  return OF_A_HUNDRED.filter((share) => lot < share).length
}

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
