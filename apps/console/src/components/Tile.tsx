import type { ComponentChildren } from "preact"
import type { Tone } from "./StatusBadge.tsx"

/** A number that leads to its list. Its text and its tone are renewed by the live values of its name. */
export const Tile = (props: {
  readonly title: string
  readonly href: string
  readonly tone: Tone
  /** The name of its text among the live values. */
  readonly live?: string
  readonly value: string
  /** More about the number, such as its unit, and a sparkline. */
  readonly children?: ComponentChildren
}) => (
  <li class={`tile ${props.tone}`} data-live-tone={props.live}>
    <a href={props.href}>
      <span class="title">{props.title}</span>
      <span class="value" data-live={props.live}>
        {props.value}
      </span>
    </a>
    {props.children}
  </li>
)
