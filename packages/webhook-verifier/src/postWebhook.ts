import { type Agent, type OutgoingHttpHeaders, request as requestHttp } from "node:http"
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
export function postWebhook(
  url: URL,
  headers: OutgoingHttpHeaders,
  body: string,
  { agent, timeoutMs, signal }: PostOptions,
): Promise<PostResult> {
  return new Promise((resolve) => {
    const request = url.protocol === "https:" ? requestHttps : requestHttp
    // `localhost` has two addresses, and Node 18 tries only the first one by default.
    const call = request(url, { method: "POST", headers, agent, signal, autoSelectFamily: true } as object)
    const fail = (failure: string): void => {
      clearTimeout(deadline)
      resolve({ failure })
      call.destroy()
    }
    const deadline = setTimeout(() => fail(`no answer within ${timeoutMs / 1000} s`), timeoutMs)
    call.on("error", (error: NodeJS.ErrnoException) => fail(reasonOf(error)))
    call.on("response", (response) => {
      const status = response.statusCode ?? 0
      let text = ""
      const finish = (): void => {
        clearTimeout(deadline)
        resolve({ status, text: text.slice(0, MAX_RESPONSE_BYTES) })
      }
      // The status decides: a body that breaks off or never ends doesn't change the result.
      clearTimeout(deadline)
      const bodyDeadline = setTimeout(() => call.destroy(), 1000)
      response.setEncoding("utf8")
      response.on("data", (chunk: string) => {
        text += chunk
        if (text.length > MAX_RESPONSE_BYTES) call.destroy()
      })
      response.on("error", () => {})
      response.on("close", () => {
        clearTimeout(bodyDeadline)
        finish()
      })
    })
    call.end(body)
  })
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
