import { EVENT_TYPES, eventExamples } from "@outreach/contract"
import { describe, expect, it } from "vitest"
import { type ErasedRecipient, eraseEventBody, placeholderOf } from "../../src/erasure/Erasure.ts"
import type { OutreachEventType } from "../../src/events/Event.ts"
import { outboundEventTypes } from "../../src/events/outgoingEvents.ts"
import type { RecipientId } from "../../src/Identifier.ts"

/** Fields that identify a recipient, and fields that don't. An unlisted field fails: its erasure must be decided. */
const PERSONAL = ["token", "npi", "email"]
const IMPERSONAL = [
  ...["service_recipient_id", "service_campaign_id", "service_program_id", "service_campaign_name"],
  "service_program_name",
  ...["consumer_program_slug", "scheduled_send_window_start", "scheduled_send_window_end", "bounce_reason"],
  ...["is_bot_suspected", "opened_at", "clicked_at"],
]

const leavesOf = (value: unknown): ReadonlyArray<readonly [key: string, value: unknown]> =>
  Object.entries(value as object).flatMap(([key, each]) =>
    typeof each === "object" && each !== null ? leavesOf(each) : [[key, each] as const],
  )

describe.each(outboundEventTypes as ReadonlyArray<OutreachEventType>)("%s", (type) => {
  const example = eventExamples[type]
  const recipients: string = EVENT_TYPES[type].recipients
  const leaves = leavesOf(example.data)
  const personal = leaves.filter(([key]) => PERSONAL.includes(key)).map(([, value]) => String(value))

  it("contains only fields that are classified as personal or not", () => {
    expect(leaves.map(([key]) => key).filter((key) => ![...PERSONAL, ...IMPERSONAL].includes(key))).toEqual([])
    expect(personal.length > 0).toBe(recipients !== "none")
  })

  it("keeps no value that identifies an erased recipient", () => {
    const ids =
      recipients === "listed"
        ? leaves.filter(([key]) => key === "service_recipient_id").map(([, id]) => id as RecipientId)
        : ["rcp_1" as RecipientId]
    const placeholders = ids.map(
      (id, number): ErasedRecipient => ({ ...placeholderOf(number), id, token: `erased${number}` }),
    )
    const recipientId = recipients === "one" ? ids[0]! : null
    const erased = eraseEventBody(
      { body: JSON.stringify(example), recipientId },
      new Map(placeholders.map((each) => [each.id, each])),
    )
    for (const value of personal) expect(erased).not.toContain(value)
    expect(leavesOf(JSON.parse(erased).data).map(([key]) => key)).toEqual(leaves.map(([key]) => key))
  })
})
