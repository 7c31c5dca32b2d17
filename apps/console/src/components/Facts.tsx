import type { ComponentChildren } from "preact"
import { isolated } from "./ForeignText.tsx"

/** The facts about one thing, as a list of names and values. A value that is undefined is left out; one of nothing but text may be foreign, and is isolated. */
export const Facts = (props: { readonly facts: Readonly<Record<string, ComponentChildren>> }) => (
  <dl class="facts">
    {Object.entries(props.facts).map(
      ([name, value]) =>
        value !== undefined && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{isolated(value)}</dd>
          </div>
        ),
    )}
  </dl>
)
