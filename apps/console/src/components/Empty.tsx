import type { ComponentChildren } from "preact"

/** Says what would stand here. */
export const Empty = (props: { readonly children: ComponentChildren }) => <p class="empty">{props.children}</p>
