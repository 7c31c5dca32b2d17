import type { ComponentChildren } from "preact"
import { LinkLine } from "./layout.tsx"
import { CopyButton } from "./values.tsx"

export const ShownOnce = (props: {
  readonly text: string
  /** The page of its creation. */
  readonly back: string
  readonly children: ComponentChildren
}) => (
  <>
    <p class="problem">This is shown only once. Save it now.</p>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
    <pre tabIndex={0}>
      <code>{props.text}</code>
    </pre>
    <CopyButton>{props.text}</CopyButton>
    {props.children}
    <LinkLine to={props.back}>I have saved it</LinkLine>
  </>
)
