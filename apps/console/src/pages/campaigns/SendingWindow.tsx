import type { Timestamp } from "@outreach/domain/Timestamp"
import { Minute } from "../../components/values.tsx"

export const SendingWindow = (props: { readonly windowStart: Timestamp; readonly windowEnd: Timestamp }) => (
  <>
    <Minute at={props.windowStart} /> to <Minute at={props.windowEnd} />
  </>
)
