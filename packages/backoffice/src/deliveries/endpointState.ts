import type { DisabledReason, EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import type { Tone } from "../operations/List.ts"

/** An endpoint is late if an event has waited for it longer. */
const LATE_SECONDS = 60

export interface EndpointState {
  readonly tone: Tone
  readonly word: string
  readonly sentence: string
}

const BREAKERS: Readonly<Record<Exclude<EndpointStatus["breaker"], "closed">, EndpointState>> = {
  open: {
    tone: "bad",
    word: "Breaker open",
    sentence: "Its last calls failed, so it is only called by the next probe.",
  },
  probing: { tone: "bad", word: "Probing", sentence: "Its last calls failed, so it is called one by one." },
  recovering: { tone: "warning", word: "Recovering", sentence: "Calls succeed again, and their rate is increasing." },
}

const DISABLED: Readonly<Record<DisabledReason, string>> = {
  operator: "Its deliveries are queued until it is enabled.",
  gone: "It returned 410, which disables it. Its deliveries are queued until it is enabled.",
  failing: "Every call failed for days. Its deliveries are queued until it is enabled.",
}

const REMOVED = {
  tone: "neutral",
  word: "Removed",
  sentence: "It was removed permanently. Its history remains.",
} as const
const FAILING = { tone: "bad", word: "Failing", sentence: "No call has succeeded for at least a day." } as const

const LATE = { tone: "warning", word: "Behind", sentence: "Deliveries lag behind published events." } as const
const UNRELIABLE = { tone: "warning", word: "Unreliable", sentence: "Some calls failed in the last minutes." } as const

/** Returns the worst of an endpoint's states. */
export const endpointState = (endpoint: EndpointStatus): EndpointState => {
  const { enabled, notices, breaker, lagEvents, lagSeconds, dueLater, causes, removedAt, disabledReason } = endpoint
  if (removedAt !== null) return REMOVED
  if (!enabled) return { tone: "warning", word: "Disabled", sentence: DISABLED[disabledReason ?? "operator"] }
  if (notices > 0) return FAILING
  if (breaker !== "closed") return BREAKERS[breaker]
  if (lagEvents > 0 && lagSeconds > LATE_SECONDS) return LATE
  if (causes > 0) return UNRELIABLE
  return dueLater > 0
    ? {
        tone: "warning",
        word: "Retrying",
        sentence: "New events are delivered. Earlier ones wait for their next attempt.",
      }
    : { tone: "good", word: "Delivering", sentence: "Events are delivered as they are published." }
}
