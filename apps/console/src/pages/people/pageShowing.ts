import type { FoundObject } from "@outreach/backoffice/operators/ObjectFinder"
import { OBJECT_PAGES } from "../../components/values.tsx"

/** Returns the URL of an object: its own page, or its place on another page. */
export const pageShowing = ({ id, organizationId, shownOn }: FoundObject): string => {
  if (shownOn === "inbox") return `/inbox/${id}?organization=${organizationId}`
  if (id.startsWith("ers_")) return `/audit?organization=${organizationId}&command=clinicians+erase`
  if (id.startsWith("rst_")) return "/system"
  const page = OBJECT_PAGES[shownOn.slice(0, 3)]
  if (page === undefined) return `/partners/${organizationId}`
  return shownOn === id ? page(id) : `${page(shownOn)}#${id}`
}
