import type { EventEnvelope } from "./WebhookEvent.ts"

/** Says whether a value is an event envelope, whatever its type; `data` is not looked into. */
export function isEvent(value: unknown): value is EventEnvelope {
  const event = value as { readonly [key: string]: unknown } | null
  return (
    event?.["object"] === "event" &&
    typeof event["livemode"] === "boolean" &&
    ["event_id", "event_type", "occurred_at", "emitted_at", "source"].every((key) => typeof event[key] === "string") &&
    /^evt_[0-9a-f]+$/.test(event["event_id"] as string) &&
    Number.isInteger(event["event_version"]) &&
    (event["event_version"] as number) > 0 &&
    // Neither null nor an array.
    Object.prototype.toString.call(event["data"]) === "[object Object]"
  )
}
