import type { ComponentChildren } from "preact"
import { useView } from "./View.ts"
import { isolated } from "./values.tsx"

/** A link that stands alone. */
export const LinkLine = (props: { readonly to: string; readonly children: ComponentChildren }) => (
  <p>
    <a href={props.to}>{props.children}</a>
  </p>
)

/** A link among several, such as one that narrows a list. */
interface Chip {
  readonly text: string
  readonly to: string
  readonly isChosen?: boolean
}

/** Links beside each other; one that is false is left out. */
export const Chips = (props: { readonly label: string; readonly chips: ReadonlyArray<Chip | false> }) => (
  <nav aria-label={props.label}>
    <ul class="chips">
      {props.chips.map(
        (chip) =>
          chip && (
            <li key={chip.text}>
              <a href={chip.to} aria-current={chip.isChosen ? "true" : undefined}>
                {isolated(chip.text)}
              </a>
            </li>
          ),
      )}
    </ul>
  </nav>
)

/** The values of a query that continue a list after its last row; undefined at its end. */
export type NextPage = Readonly<Record<string, string>> | undefined

/** Leads to the next page of a list. */
export const Pager = (props: {
  readonly next: NextPage
  /** The address of this page, if the list has another than what is shown. */
  readonly address?: string | undefined
}) => {
  const { address } = useView()
  if (props.next === undefined) return null
  return (
    <nav class="pager" aria-label="More rows">
      <a href={withQuery(props.address ?? address, props.next)} rel="next">
        Next page
      </a>
    </nav>
  )
}

/** Returns an address with values of its query replaced; undefined removes one. */
export const withQuery = (address: string, values: Readonly<Record<string, unknown>>): string => {
  const [path = "", search = ""] = address.split("?")
  const query = new URLSearchParams(search)
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) query.delete(name)
    else query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}
