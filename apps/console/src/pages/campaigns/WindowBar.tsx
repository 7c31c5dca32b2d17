import { type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { formatDuration } from "../../components/format.ts"
import { Minute, useView } from "../../components/values.tsx"

/** Milliseconds before and after now on the bar. */
const REACH_MS = 14 * 86_400_000
const WIDTH = 140
const HEIGHT = 14
const MIN_BAR = 3

export const WindowBar = (props: { readonly windowStart: Timestamp; readonly windowEnd: Timestamp }) => {
  const { now } = useView()
  const [start, end] = [toUnixMillis(props.windowStart), toUnixMillis(props.windowEnd)]
  const place = (at: number) => Math.min(WIDTH, Math.max(0, ((at - now + REACH_MS) / (2 * REACH_MS)) * WIDTH))
  const x = Math.min(place(start), WIDTH - MIN_BAR)
  const [color, words] =
    end <= now
      ? ["neutral", `ended ${formatDuration((now - end) / 1000)} ago`]
      : start <= now
        ? ["good", `ends in ${formatDuration((end - now) / 1000)}`]
        : ["accent", `begins in ${formatDuration((start - now) / 1000)}`]
  return (
    <div class="window">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
        <line stroke="var(--line)" x1="0" x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} />
        <rect
          fill={`var(--${color})`}
          x={x}
          y="3"
          width={Math.max(MIN_BAR, place(end) - x)}
          height={HEIGHT - 6}
          rx="2"
        />
        <line stroke="var(--bad)" stroke-width="2" x1={WIDTH / 2} x2={WIDTH / 2} y1="0" y2={HEIGHT} />
      </svg>
      <span class="minute">
        <Minute at={props.windowStart} /> to
      </span>
      <Minute class="minute" at={props.windowEnd} />
      <small>{words}</small>
    </div>
  )
}
