/** How a status is to be read: all is well, look at it, something is wrong, or nothing happens. */
export type Tone = "good" | "warning" | "bad" | "neutral"

/** A status as a word in a coloured box. The word alone says it. */
export const StatusBadge = (props: { readonly tone: Tone; readonly children: string }) => (
  <span class={`status ${props.tone}`}>{props.children}</span>
)
