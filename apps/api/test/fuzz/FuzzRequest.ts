import type { DocumentedOperation } from "./document.ts"

/** Key of a request; other text is sent as the credential itself. */
export type Bearer = "good" | "scopeless" | "spent" | "revoked" | "none" | { readonly authorization: string }

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

/** Formats a request as a shell command. */
export const curl = (request: FuzzRequest): string => {
  const { method, headers, bearer, body } = request
  const authorization = { good: "Bearer $KEY", scopeless: "Bearer $KEY_WITHOUT_SCOPE" }[bearer as string]
  const all = {
    ...headers,
    ...(bearer !== "none" && {
      Authorization:
        typeof bearer === "object" ? bearer.authorization : (authorization ?? `Bearer $KEY_THAT_IS_${bearer}`),
    }),
  }
  return [
    `curl -i --path-as-is ${method === "HEAD" ? "-I" : `-X ${method}`} "$API"${quote(targetOf(request))}`,
    ...Object.entries(all).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-binary ${quote(body)}`]),
  ].join(" ")
}

const quote = (text: string): string => (text.includes("$KEY") ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`)
