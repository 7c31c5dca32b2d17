import type { ComponentChildren } from "preact"

/** What was read, or that it could not be. */
export const Part = <A,>(props: { readonly of: A | undefined; readonly children: (read: A) => ComponentChildren }) =>
  props.of === undefined ? (
    <p class="problem">This could not be read. The console's log and the database's say why.</p>
  ) : (
    props.children(props.of)
  )
