/** As much of a WHATWG `fetch` as the client uses: that of Node 18 or later, Deno, Bun, a worker or undici will do. */
export type Fetch = (url: string, request: FetchRequest) => Promise<FetchResponse>

/** What the client asks a `fetch` for. */
export interface FetchRequest {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: string
  readonly redirect: "manual"
  readonly signal: AbortSignal
}

/** What the client reads of an answer. */
export interface FetchResponse {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  text(): Promise<string>
}
