import { eventExamples } from "@outreach/contract"
import type { EventOf, EventType } from "./WebhookEvent.ts"

/** Options of `sampleEvent`. */
export interface SampleOptions {
  /** Time of signing and emission in Unix seconds. Default: now. */
  readonly timestamp?: number | undefined
  /** `evt_<hex>`. Default: random. */
  readonly eventId?: string | undefined
}

/** The event types that have samples. */
export const sampleTypes: readonly EventType[] = Object.keys(eventExamples) as EventType[]

/** Creates an event of a type, with fictional people. */
export function sampleEvent<Type extends EventType>(
  type: Type,
  { timestamp = Math.floor(Date.now() / 1000), eventId = randomEventId() }: SampleOptions = {},
): EventOf<Type> {
  const at = `${new Date(timestamp * 1000).toISOString().slice(0, -1)}000Z`
  const sample = { ...structuredClone(eventExamples[type]), event_id: eventId, occurred_at: at, emitted_at: at }
  return sample as unknown as EventOf<Type>
}

function randomEventId(): string {
  const digits = Array.from({ length: 32 }, () => Math.floor(Math.random() * 16).toString(16))
  return `evt_${digits.join("")}`
}
