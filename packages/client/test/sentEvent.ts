import { eventExamples, type FeedEvent } from "@outreach/contract"

/** Creates an `outreach.email_sent` event with a number for its id, emitted so many microseconds after the beginning of 2026. */
export function sentEvent(number: number, microseconds: number): FeedEvent {
  const whole = new Date(Date.UTC(2026, 0, 1) + Math.floor(microseconds / 1e6) * 1000).toISOString().slice(0, 19)
  return {
    ...eventExamples["outreach.email_sent"],
    event_id: `evt_${number.toString(16).padStart(32, "0")}`,
    emitted_at: `${whole}.${String(microseconds % 1e6).padStart(6, "0")}Z`,
  }
}
