import type { ComponentChildren } from "preact"
import { LinkLine } from "../../components/lists.tsx"

/** A secret in the one answer that shows it. */
export const ShownOnce = (props: {
  readonly text: string
  /** Where the operator goes on. */
  readonly back: string
  readonly children: ComponentChildren
}) => (
  <>
    <p class="problem">This is shown once. Keep it now: nobody can read it again.</p>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
    <pre tabIndex={0}>
      <code>{props.text}</code>
    </pre>
    {props.children}
    <LinkLine to={props.back}>I have kept it</LinkLine>
  </>
)
