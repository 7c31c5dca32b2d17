import { describe, expect, expectTypeOf, it } from "vitest"
import {
  EVENT_TYPES,
  EVENTS,
  type EventData,
  EventEnvelope,
  EventList,
  type EventType,
  type EventTypeOf,
  eventExamples,
  examples,
  FEED_EVENT_TYPES,
  FeedEvent,
  InboundEvent,
} from "../src/index.ts"

const types = Object.keys(EVENTS) as EventType[]
const inbound = eventExamples["clinician.account_created"]

const dataFields: Record<EventType, readonly string[]> = {
  "outreach.recipients_published": [
    ...["service_campaign_id", "service_program_id", "service_campaign_name", "service_program_name"],
    ...["consumer_program_slug", "scheduled_send_window_start", "scheduled_send_window_end", "recipients"],
  ],
  "outreach.email_sent": ["service_recipient_id", "service_campaign_id", "token"],
  "outreach.email_bounced": ["service_recipient_id", "service_campaign_id", "token", "bounce_reason"],
  "outreach.email_opened": ["service_campaign_id", "service_program_id", "token", "is_bot_suspected", "opened_at"],
  "outreach.email_clicked": ["service_campaign_id", "service_program_id", "token", "is_bot_suspected", "clicked_at"],
  "clinician.account_created": ["npi", "consumer_program_slug", "token", "email", "attribution"],
  "clinician.learner_qualified": ["npi", "consumer_program_slug", "token"],
  "clinician.completer_qualified": ["npi", "consumer_program_slug", "token"],
}

describe("EVENTS", () => {
  it("are the specification's eight, each under its own name", () => {
    expect(types).toEqual(Object.keys(dataFields))
    for (const type of types) expect(eventExamples[type].event_type).toBe(type)
  })

  it("have the directions of EVENT_TYPES, in the same order", () => {
    const directions = Object.entries(EVENT_TYPES).map(([type, { direction }]) => [type, direction])
    expect(directions).toEqual(types.map((type) => [type, EVENTS[type].direction]))
  })

  describe.each(types)("%s", (type) => {
    const { direction, data, envelope } = EVENTS[type]
    const example = eventExamples[type]

    it("accepts its example, which has every field of the catalog", () => {
      expect(envelope.parse(example)).toEqual(example)
      expect(Object.keys(example.data).toSorted()).toEqual([...dataFields[type]].toSorted())
    })
    it("goes the way of its source", () => {
      expect(example.source).toBe(direction === "to_consumer" ? "service" : "consumer")
      expect(envelope.safeParse({ ...example, source: "elsewhere" }).success).toBe(false)
    })
    it.each(Object.keys(example.data))("rejects a data.%s of another type", (field) => {
      expect(data.safeParse({ ...example.data, [field]: 7 }).success).toBe(false)
    })
    it.each(Object.keys(example.data))("lets data.%s be absent only where no token or attribution need be", (field) => {
      const rest = Object.fromEntries(Object.entries(example.data).filter(([name]) => name !== field))
      const optional =
        direction === "to_service" && (field === "attribution" || (field === "token" && !("attribution" in rest)))
      expect(data.safeParse(rest).success).toBe(optional)
    })
    it("keeps further keys of data", () => {
      expect(data.parse({ ...example.data, extra: { deep: 1 } })).toMatchObject({ extra: { deep: 1 } })
    })
    it.each([
      ["object", "list"],
      ["livemode", "true"],
      ["event_id", "evt_"],
      ["event_type", "outreach.unknown"],
      ["event_version", 0],
      ["event_version", 1.5],
      ["occurred_at", "2026-11-21"],
      ["emitted_at", null],
      ["data", null],
      ["metadata", "text"],
    ])("refuses an envelope with %s = %j", (field, value) => {
      expect(envelope.safeParse({ ...example, [field]: value }).success).toBe(false)
    })
    it("takes metadata that is absent, null or an object", () => {
      expect(envelope.safeParse({ ...example, metadata: null }).success).toBe(true)
      expect(envelope.safeParse({ ...example, metadata: { trace: "x" } }).success).toBe(true)
    })
  })

  it("publish at most 500 recipients at once", () => {
    const { data } = EVENTS["outreach.recipients_published"]
    const example = eventExamples["outreach.recipients_published"].data
    const of = (count: number) => ({ ...example, recipients: Array(count).fill(example.recipients[0]) })
    expect(data.safeParse(of(500)).success).toBe(true)
    expect(data.safeParse(of(501)).success).toBe(false)
  })

  it("set the token when, and perhaps also when not, the account is attributed to it", () => {
    const { data } = EVENTS["clinician.account_created"]
    const of = (attribution: unknown, token: unknown) => data.safeParse({ ...inbound.data, attribution, token }).success
    expect(of("service_token", "aB3xY9")).toBe(true)
    expect(of("service_token", null)).toBe(false)
    expect(of("organic", null)).toBe(true)
    expect(of("some new one", "aB3xY9")).toBe(true)
    expect(of(null, undefined)).toBe(true)
  })

  it("take a partner's times with any offset and precision", () => {
    const { envelope } = EVENTS["clinician.account_created"]
    for (const occurred_at of ["2026-11-21T02:45:29Z", "2026-11-21T02:45:29.1+02:00"]) {
      expect(envelope.parse({ ...inbound, occurred_at }).occurred_at).toBe(occurred_at)
    }
  })

  it("are typed by name and direction", () => {
    expectTypeOf<EventData<"outreach.email_bounced">["bounce_reason"]>().toEqualTypeOf<string>()
    expectTypeOf<EventEnvelope<"outreach.email_sent">["event_type"]>().toEqualTypeOf<"outreach.email_sent">()
    expectTypeOf<EventEnvelope["event_type"]>().toEqualTypeOf<EventType>()
    expectTypeOf<EventTypeOf<"to_service">>().toEqualTypeOf<
      "clinician.account_created" | "clinician.learner_qualified" | "clinician.completer_qualified"
    >()
  })
})

describe("EventEnvelope", () => {
  it.each(types)("accepts %s", (type) => {
    expect(EventEnvelope.parse(eventExamples[type])).toEqual(eventExamples[type])
  })
  it("rejects unknown types, and types with another type's data", () => {
    expect(EventEnvelope.safeParse({ ...inbound, event_type: "clinician.retired" }).success).toBe(false)
    expect(EventEnvelope.safeParse({ ...inbound, event_type: "outreach.email_sent" }).success).toBe(false)
  })
})

describe("FeedEvent", () => {
  it.each(types)("accepts %s only if it is an outreach.email_* type", (type) => {
    const feeds = type.startsWith("outreach.email_")
    expect((FEED_EVENT_TYPES as readonly string[]).includes(type)).toBe(feeds)
    expect(FeedEvent.safeParse(eventExamples[type]).success).toBe(feeds)
  })
  it("carries campaign, program and recipient when expanded, or null", () => {
    const { campaign, program, ...recipient } = examples.getToken.response
    const event = { ...eventExamples["outreach.email_sent"], campaign, program, recipient }
    expect(FeedEvent.parse(event)).toEqual(event)
    expect(FeedEvent.safeParse({ ...event, campaign: null, program: null, recipient: null }).success).toBe(true)
    expect(FeedEvent.safeParse({ ...event, recipient: campaign }).success).toBe(false)
  })
  it("comes in lists", () => {
    expect(EventList.parse(examples.listEvents.response)).toEqual(examples.listEvents.response)
  })
})

describe("InboundEvent", () => {
  it("takes an unknown type, and data that it does not look into", () => {
    const event = { ...inbound, event_type: "clinician.retired", data: { anything: [1] } }
    expect(InboundEvent.parse(event)).toEqual(event)
  })
  it.each([
    ["source", "service"],
    ["event_type", ""],
    ["event_type", "x".repeat(256)],
    ["event_type", "a b"],
    ["event_id", `evt_${"0".repeat(252)}`],
    ["event_version", 0],
    ["data", []],
    ["occurred_at", "2026-11-21T02:45:29"],
  ])("refuses %s = %j", (field, value) => {
    expect(InboundEvent.safeParse({ ...inbound, [field]: value }).success).toBe(false)
  })
  it("takes ids and types up to 255 characters", () => {
    const event = { ...inbound, event_id: `evt_${"0".repeat(251)}`, event_type: "x".repeat(255) }
    expect(InboundEvent.safeParse(event).success).toBe(true)
  })
})
