import type * as z from "zod"
import type { CampaignSummary, ProgramSummary } from "./campaigns.ts"
import type { Digest } from "./digest.ts"
import type { EventData, EventEnvelope } from "./events.ts"
import type { Health } from "./health.ts"
import { EVENT_TYPES, type EventType } from "./names.ts"
import type { Operation, ResponseOf } from "./Operation.ts"
import type { OperationId, Operations } from "./operations.ts"
import type { SurveyInput } from "./surveys.ts"
import type { RecipientRecord } from "./tokens.ts"

const campaignId = "cmp_0199c2f27e1b7c3e8d5a4b6f90a1c2d3"
const programId = "pgm_0199c2f27e1b7c3e8d5a4b6f90a1c2d4"
const recipientId = "rcp_0199c2f27e1b7c3e8d5a4b6f90a1c2d5"
const seat = { token: "aB3xY9", npi: "1234567893", email: "dana.reyes@clinic.test", service_recipient_id: recipientId }
const outcome = { service_recipient_id: recipientId, service_campaign_id: campaignId, token: seat.token }
const hit = {
  service_campaign_id: campaignId,
  service_program_id: programId,
  token: seat.token,
  is_bot_suspected: false,
}
const qualified = { npi: seat.npi, consumer_program_slug: "heart-failure-2026", token: seat.token }

const envelope = {
  object: "event",
  livemode: false,
  event_id: "evt_0199c2f27e1b7c3e8d5a4b6f90a1c2d6",
  event_version: 1,
  occurred_at: "2026-11-21T02:45:29.123456Z",
  emitted_at: "2026-11-21T02:45:29.654321Z",
} as const

const eventData: { readonly [Type in EventType]: EventData<Type> } = {
  "outreach.recipients_published": {
    service_campaign_id: campaignId,
    service_program_id: programId,
    service_campaign_name: "Autumn invitation",
    service_program_name: "Heart failure 2026",
    consumer_program_slug: "heart-failure-2026",
    scheduled_send_window_start: "2026-11-22T14:00:00.000000Z",
    scheduled_send_window_end: "2026-11-22T20:00:00.000000Z",
    recipients: [seat],
  },
  "outreach.email_sent": outcome,
  "outreach.email_bounced": { ...outcome, bounce_reason: "mailbox_not_found" },
  "outreach.email_opened": { ...hit, opened_at: envelope.occurred_at },
  "outreach.email_clicked": { ...hit, clicked_at: envelope.occurred_at },
  "clinician.account_created": { ...qualified, email: seat.email, attribution: "service_token" },
  "clinician.learner_qualified": qualified,
  "clinician.completer_qualified": qualified,
}

export const eventExamples: { readonly [Type in EventType]: EventEnvelope<Type> } = Object.fromEntries(
  Object.entries(eventData).map(([type, data]) => {
    const source = EVENT_TYPES[type as EventType].direction === "to_consumer" ? "service" : "consumer"
    return [type, { ...envelope, source, event_type: type, data }]
  }),
) as never

const campaign: CampaignSummary = {
  object: "campaign",
  livemode: false,
  id: campaignId,
  name: "Autumn invitation",
  program_id: programId,
  status: "sending",
}
const program: ProgramSummary = {
  object: "program",
  livemode: false,
  id: programId,
  slug: "heart-failure-2026",
  name: "Heart failure 2026",
  status: "active",
}
const recipient: RecipientRecord = {
  object: "recipient_record",
  livemode: false,
  ...seat,
  service_campaign_id: campaignId,
  service_program_id: programId,
  created_at: "2026-11-20T09:00:00.000000Z",
  updated_at: envelope.emitted_at,
  sent_at: envelope.occurred_at,
  bounced_at: null,
  last_event_at: envelope.occurred_at,
}
const page = { object: "list", livemode: false, has_more: false, next_cursor: null } as const
const counts = { opened: 61, clicked: 14, unique_opened: 48, unique_clicked: 12 }

const digest: Digest = {
  object: "digest",
  livemode: false,
  date: "2026-11-20",
  data: [
    {
      object: "digest_record",
      livemode: false,
      date: "2026-11-20",
      program,
      funnel: {
        date: { account_created: 9, learner_qualified: 4, completer_qualified: 1 },
        cumulative: { account_created: 120, learner_qualified: 57, completer_qualified: 22 },
      },
      outreach: {
        recipients_published: 500,
        sent: 480,
        bounced: 6,
        ...counts,
        without_suspected_bots: { opened: 52, clicked: 11, unique_opened: 41, unique_clicked: 10 },
      },
      quota: {
        learner_qualified: { target: 100, count: 57, remaining: 43, reached_at: null },
        completer_qualified: { target: null, count: 22, remaining: null, reached_at: null },
      },
    },
  ],
}
const health: Health = { status: "ok", version: "1.0.0", timestamp: "2026-11-21T02:45:29.123456Z" }
const survey: SurveyInput = {
  title: "Managing heart failure in primary care",
  estimatedTime: { min: 5, max: 10 },
  incentive: 25,
  questions: [
    { type: "single-choice", text: "How many patients do you see each week?", options: ["Under 50", "50 or more"] },
    { type: "scale", text: "How confident are you?", points: 7, labels: { start: "Not at all", end: "Fully" } },
  ],
  targeting: { audiences: [{ states: ["NY", "CA"], quota: 100 }] },
}

type BodyOf<Response> = Response extends { readonly body: infer Body } ? Exclude<Body, null> : never

interface Example<Op extends Operation> {
  readonly request?: Op["body"] extends { readonly schema: infer Schema extends z.ZodType } ? z.input<Schema> : never
  readonly response: ResponseOf<Op> extends infer Response ? BodyOf<Response> : never
}

/** Example request and response of each operation, by operation id. */
export const examples: { readonly [Id in OperationId]: Example<Operations[Id]> } = {
  getHealth: { response: health },
  getToken: { response: { ...recipient, campaign, program } },
  listTokens: {
    response: { ...page, data: [recipient], url: "/v1/partners/consumer/tokens?since=2026-11-20T00:00:00Z" },
  },
  listEvents: {
    response: {
      ...page,
      data: [eventExamples["outreach.email_sent"], eventExamples["outreach.email_clicked"]],
      url: "/v1/partners/consumer/events?since=2026-11-20T00:00:00Z",
    },
  },
  listCampaignRecipients: {
    response: { ...page, data: [recipient], url: `/v1/partners/consumer/campaigns/${campaignId}/recipients` },
  },
  getDigest: { response: digest },
  receiveWebhook: { request: eventExamples["clinician.account_created"], response: { received: true } },
  createSurvey: {
    request: survey,
    response: {
      id: "0199c2f2-7e1b-7c3e-8d5a-4b6f90a1c2d7",
      title: survey.title,
      status: "draft",
      questionCount: 2,
      createdAt: "2026-11-21T02:45:29.123456Z",
    },
  },
  validateSurvey: { request: survey, response: { valid: true, questionCount: 2 } },
  presignUpload: {
    response: {
      url: "https://uploads.outreach.test/case.pdf?signature=abc",
      publicUrl: "https://files.outreach.test/case.pdf",
      expiresIn: 900,
    },
  },
}
