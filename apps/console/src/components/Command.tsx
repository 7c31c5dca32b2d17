import type { ComponentChildren } from "preact"

/** A command line that shows or does the same as the page. */
export const Command = (props: { readonly children: ComponentChildren }) => (
  <pre class="command">
    <code>{props.children}</code>
  </pre>
)
