import type { EventEnvelope as ContractEnvelope, EventType as ContractType } from "@outreach/contract"
import { eventExamples } from "@outreach/contract"
import { expect, expectTypeOf, it } from "vitest"
import {
  createWebhookVerifier,
  type EventOf,
  type EventType,
  type KnownEvent,
  type UnknownEvent,
  type WebhookEvent,
} from "../src/index.ts"
import { NOW, SECRET, signed } from "./signed.ts"

const verifier = createWebhookVerifier({ secrets: [SECRET], now: () => NOW })

function describeEvent(event: WebhookEvent): string {
  switch (event.event_type) {
    case "outreach.recipients_published":
      expectTypeOf(event.data.recipients[0]!.npi).toEqualTypeOf<string>()
      return `${event.data.recipients.length} recipients`
    case "outreach.email_bounced":
      expectTypeOf(event).toEqualTypeOf<EventOf<"outreach.email_bounced">>()
      expectTypeOf(event.data.bounce_reason).toEqualTypeOf<string>()
      return event.data.bounce_reason
    case "outreach.email_sent":
      return event.data.service_recipient_id
    case "outreach.email_opened":
      return event.data.opened_at
    case "outreach.email_clicked":
      expectTypeOf(event.data.is_bot_suspected).toEqualTypeOf<boolean>()
      return event.data.clicked_at
    case "clinician.account_created":
    case "clinician.learner_qualified":
    case "clinician.completer_qualified":
      return event.data.npi
    default:
      expectTypeOf(event).toEqualTypeOf<UnknownEvent>()
      return `unknown ${event.event_type}`
  }
}

it("types the same events as the contract does", () => {
  expectTypeOf<EventType>().toEqualTypeOf<ContractType>()
  expectTypeOf<ContractEnvelope>().toExtend<KnownEvent>()
  expectTypeOf<KnownEvent>().toExtend<ContractEnvelope>()
  expect(Object.keys(eventExamples)).toHaveLength(8)
})

it("narrows to one type by a comparison, and leaves the rest to the default", async () => {
  const told: string[] = []
  for (const example of [
    ...Object.values(eventExamples),
    { ...eventExamples["outreach.email_sent"], event_type: "outreach.email_read" },
  ]) {
    const body = JSON.stringify(example)
    told.push(describeEvent(await verifier.verify({ headers: { "x-signature": signed(body) }, body })))
  }
  expect(told).toContain("1 recipients")
  expect(told).toContain("mailbox_not_found")
  expect(told).toContain("unknown outreach.email_read")
})

it("types the name as a string, of known and unknown events alike", () => {
  const use = (event: WebhookEvent, counts: Map<string, number>): string => {
    const name: string = event.event_type
    counts.set(event.event_type, (counts.get(event.event_type) ?? 0) + 1)
    return ["outreach.email_read"].includes(event.event_type) ? event.event_type.toUpperCase() : `${name}.`
  }
  expectTypeOf<WebhookEvent["event_type"]>().toExtend<string>()
  expect(use(eventExamples["outreach.email_sent"] as WebhookEvent, new Map())).toBe("outreach.email_sent.")
  const isTypo = (event: WebhookEvent) =>
    // @ts-expect-error a name that this version does not know is most often a slip
    event.event_type === "outreach.email_snet"
  expect(isTypo(eventExamples["outreach.email_sent"] as WebhookEvent)).toBe(false)
})

it("does not let an unknown event pass for a known one", () => {
  const onlySent = (event: WebhookEvent) => (event.event_type === "outreach.email_sent" ? event : undefined)
  expectTypeOf(onlySent).returns.toEqualTypeOf<EventOf<"outreach.email_sent"> | undefined>()
})
