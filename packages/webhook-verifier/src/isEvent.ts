import type { EnvelopeMembers } from "./contractEvents.ts"

/** Reports whether a value is an event envelope, whatever its type; `data` is not looked into. */
export function isEvent(value: unknown): value is EnvelopeMembers {
  const event = value as { readonly [key: string]: unknown } | null
  return (
    event?.["object"] === "event" &&
    typeof event["livemode"] === "boolean" &&
    ["source", "occurred_at", "event_type", "emitted_at", "event_id"].every((key) => typeof event[key] === "string") &&
    /^evt_[0-9a-f]+$/.test(event["event_id"] as string) &&
    (event["event_version"] as number) > 0 &&
    Number.isInteger(event["event_version"]) &&
    // Neither null nor an array.
    Object.prototype.toString.call(event["data"]) === "[object Object]"
  )
}
