/** Leads to the next page of a list, from the address of this one. */
export const Pager = (props: {
  readonly address: string
  /** The values of the query that continue the list after its last row; undefined at its end. */
  readonly next: Readonly<Record<string, string>> | undefined
}) => {
  if (props.next === undefined) return null
  return (
    <nav class="pager" aria-label="More rows">
      <a href={withQuery(props.address, props.next)} rel="next">
        Next page
      </a>
    </nav>
  )
}

/** Returns an address with values of its query replaced; undefined removes one. */
export const withQuery = (address: string, values: Readonly<Record<string, string | undefined>>): string => {
  const [path = "", search = ""] = address.split("?")
  const query = new URLSearchParams(search)
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) query.delete(name)
    else query.set(name, value)
  }
  return query.size === 0 ? path : `${path}?${query}`
}
