import { ForeignText } from "./ForeignText.tsx"
/** The pages of the things that have one, by the prefix of their ids. */
export const OBJECT_PAGES: Readonly<Record<string, (id: string) => string>> = {
  org: (id) => `/partners/${id}`,
  cmp: (id) => `/campaigns/${id}`,
  rcp: (id) => `/people/${id}`,
  whe: (id) => `/endpoints/${id}`,
  dlv: (id) => `/deliveries/${id}`,
  fgr: (id) => `/issues/${id}`,
  rpl: () => "/issues",
  pgm: (id) => `/campaigns?program=${id}`,
}

/** An id, which leads to its page if it has one. */
export const IdLink = (props: { readonly id: string; readonly children?: string }) => {
  const pageOf = OBJECT_PAGES[props.id.slice(0, 3)]
  const text = props.children === undefined ? <code>{props.id}</code> : <ForeignText>{props.children}</ForeignText>
  return pageOf === undefined ? text : <a href={pageOf(props.id)}>{text}</a>
}
