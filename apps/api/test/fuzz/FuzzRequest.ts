import type { DocumentedOperation } from "./document.ts"

/** Key of a request; other text is sent as the credential itself. */
export type Bearer = "good" | "scopeless" | "revoked" | "none" | { readonly authorization: string }

/** A request without key and server. */
export interface FuzzRequest {
  /** The operation that it was generated for. */
  readonly operation: DocumentedOperation
  readonly method: string
  /** Percent-encoded. */
  readonly path: string
  readonly query: ReadonlyArray<readonly [name: string, value: string]>
  readonly headers: Readonly<Record<string, string>>
  readonly bearer: Bearer
  readonly body?: string
}

/** Path and query as sent. */
export const targetOf = ({ path, query }: FuzzRequest): string =>
  query.length === 0 ? path : `${path}?${query.map((pair) => pair.map(encodeURIComponent).join("=")).join("&")}`
