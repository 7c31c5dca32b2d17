import type { EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import { StatusBadge, type Tone } from "../../components/values.tsx"

/** An endpoint is late if an event has waited for it longer than this. */
const LATE_SECONDS = 60

export interface EndpointState {
  readonly tone: Tone
  readonly word: string
  readonly sentence: string
}

const BREAKERS: Readonly<Record<Exclude<EndpointStatus["breaker"], "closed">, EndpointState>> = {
  open: { tone: "bad", word: "Breaker open", sentence: "It failed five times in a row and waits for its next probe." },
  probing: { tone: "bad", word: "Probing", sentence: "It failed five times in a row and is called one by one." },
  recovering: { tone: "warning", word: "Recovering", sentence: "It answers again and is called more and more." },
}

/** Returns the state of an endpoint: of several, the worst. */
export const endpointState = ({ enabled, breaker, lagEvents, lagSeconds }: EndpointStatus): EndpointState => {
  if (!enabled) return { tone: "warning", word: "Disabled", sentence: "Its deliveries wait until it is enabled." }
  if (breaker !== "closed") return BREAKERS[breaker]
  return lagEvents > 0 && lagSeconds > LATE_SECONDS
    ? { tone: "warning", word: "Behind", sentence: "It reads the log later than events are published." }
    : { tone: "good", word: "Delivering", sentence: "It is called as events are published." }
}

export const EndpointBadge = (props: { readonly endpoint: EndpointStatus }) => {
  const { tone, word } = endpointState(props.endpoint)
  return <StatusBadge tone={tone}>{word}</StatusBadge>
}
