import { type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { formatAgo } from "./format.ts"
import { useView } from "./View.ts"

/** An instant in UTC, with how long ago it is. A dash in place of none. */
export const Time = (props: { readonly at: Timestamp | null | undefined }) => {
  const { now } = useView()
  if (props.at === null || props.at === undefined) return <>–</>
  return (
    <time dateTime={props.at} title={props.at}>
      <span>
        {props.at.slice(0, 10)} {props.at.slice(11, 19)}
      </span>{" "}
      <small>{formatAgo((now - toUnixMillis(props.at)) / 1000)}</small>
    </time>
  )
}
