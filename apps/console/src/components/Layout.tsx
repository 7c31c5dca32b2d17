import type { ComponentChildren } from "preact"

/** A document for somebody who is not signed in. */
export const Narrow = (props: { readonly title: string; readonly children: ComponentChildren }) => (
  <main class="narrow" id="content">
    <h1>{props.title}</h1>
    {props.children}
  </main>
)

/** A command line that shows or does the same as the page. */
export const Command = (props: { readonly children: ComponentChildren }) => (
  <pre class="command">
    <code>{props.children}</code>
  </pre>
)
