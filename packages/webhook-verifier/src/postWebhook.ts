import { once } from "node:events"
import { type Agent, type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from "node:http"
import { request as requestHttps } from "node:https"

/** Result of a POST: a status with the start of the body, or a failure message. */
export type PostResult = { readonly status: number; readonly text: string } | { readonly failure: string }

export interface PostOptions {
  readonly agent: Agent
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

const MAX_RESPONSE_BYTES = 4096

/** Posts a body with exactly these headers, without following redirects, as the service does. Failures are results, not errors. */
export async function postWebhook(
  url: URL,
  headers: OutgoingHttpHeaders,
  body: string,
  { agent, timeoutMs, signal }: PostOptions,
): Promise<PostResult> {
  const request = url.protocol === "https:" ? requestHttps : requestHttp
  // `localhost` has two addresses, and Node 18 tries only the first one by default.
  const call = request(url, { method: "POST", headers, agent, signal, autoSelectFamily: true } as object)
  call.on("error", () => {})
  let deadline = setTimeout(() => call.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs)
  let response: IncomingMessage | undefined
  let text = ""
  try {
    call.end(body)
    response = (await once(call, "response"))[0] as IncomingMessage
    clearTimeout(deadline)
    deadline = setTimeout(() => call.destroy(), 1000)
    for await (const chunk of response.setEncoding("utf8")) {
      text += chunk
      if (text.length > MAX_RESPONSE_BYTES) break
    }
  } catch (error) {
    // The status decides: a body that breaks off or never ends doesn't change the result.
    if (response === undefined) return { failure: reasonOf(error as NodeJS.ErrnoException) }
  } finally {
    clearTimeout(deadline)
  }
  return { status: response.statusCode ?? 0, text: text.slice(0, MAX_RESPONSE_BYTES) }
}

function reasonOf(error: NodeJS.ErrnoException): string {
  // Several addresses were tried.
  const [first = error] = (error as { errors?: NodeJS.ErrnoException[] }).errors ?? []
  return first.code === undefined ? first.message : `${REASONS[first.code] ?? first.message} (${first.code})`
}

const REASONS: { readonly [code: string]: string } = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the receiver closed the connection without an answer",
  ENOTFOUND: "no host has this name",
}
