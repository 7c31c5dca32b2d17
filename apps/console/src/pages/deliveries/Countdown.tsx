import { type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { formatDuration } from "../../components/format.ts"
import { useView } from "../../components/View.ts"

/** How long it is until a time, which the browser counts down. */
export const Countdown = (props: { readonly until: Timestamp | null }) => {
  const { now } = useView()
  if (props.until === null) return <>–</>
  const until = toUnixMillis(props.until)
  return (
    <time dateTime={props.until} title={props.until} data-until={until}>
      {until <= now ? "now" : `in ${formatDuration((until - now) / 1000)}`}
    </time>
  )
}
