import { parseRetryAfter } from "./parseRetryAfter.ts"
import { isStop } from "./stop.ts"

/** The outcome of an attempt. */
export interface Outcome {
  /** Whether the attempt succeeded, failed temporarily or failed permanently. */
  readonly verdict: "success" | "transient" | "permanent"
  /** Reason, for logs: a status such as `503`, or an error's code or name such as `ECONNREFUSED` or `TimeoutError`. */
  readonly reason: string
  /** Milliseconds that the response requires to wait. */
  readonly retryAfter?: number | undefined
}

/** Retryable failures: a status, a class of statuses, all network failures, all other errors except aborts, or an error's code or name. */
export type RetryOn = number | "1xx" | "3xx" | "4xx" | "5xx" | "network" | "error" | (string & {})

/** The options of `classify`. */
export interface ClassifyOptions {
  /** Retryable failures. Default `["5xx", "network"]`; 408, 425 and 429 are opt-in. */
  readonly retryOn?: readonly RetryOn[] | undefined
  /** Current Unix time in milliseconds, such as `Date.now`, for a `Retry-After` date in a response without `Date`. */
  readonly now?: (() => number) | undefined
}

/** Codes of Node, OpenSSL, undici and Bun, and the name of a timeout. */
const NETWORK =
  /^(E(CONN|PIPE|(HOST|NET)(UN|DO)|NOTF|NODATA|AI_|TIMED|PROTO)|UND_ERR_(SOCKET|RES_CON|.+TIMEOUT)|HPE_|HTTPParser|ERR_(SSL|TLS|HTTP2)_|(Connection(Refused|Closed|Reset|TimedOut)|TimeoutError)$)/

/** Codes of OpenSSL and Node for certificates that either side rejects, which a retry doesn't fix. */
const CERTIFICATE =
  /^(CERT_|CRL_|ERROR_IN_C|INVALID_(CA|PURPOSE)|PATH_LEN|SELF_S|UNABLE_TO|DEPTH_Z|HOSTNAME_|ERR_TLS_CERT_|ERR_SSL_.*(CERTIFICATE|UNKNOWN_CA))/

/** Messages of fetch without a code: Chrome, Firefox, Safari, undici, Deno, Cloudflare, React Native. */
const FETCH_FAILED = /^(failed to fetch|fetch failed|load failed|terminated|error sending|.{0,4}(network|internet))/i

/** Names of temporary errors of AWS, with any status. Source: `isThrottlingError` and `isTransientError` of @smithy/core/retry. */
const AWS_TEMPORARY =
  /^(BandwidthLimitExceeded|EC2ThrottledException|LimitExceededException|PriorRequestNotComplete|ProvisionedThroughputExceededException|RequestLimitExceeded|Request(Throttled|Timeout)(Exception)?|SlowDown|ThrottledException|Throttling(Exception)?|TooManyRequestsException|TransactionInProgressException)$/

/**
 * Classifies the result or the error of an attempt: a response or an error of fetch, undici or Node, an error with a `response`, or an error of the AWS SDK.
 *
 * Success: status 2xx, and any value that is neither a response (has `headers`) nor an error. Otherwise transient if `retryOn` matches, else permanent.
 */
export function classify(result: unknown, { retryOn = ["5xx", "network"], now }: ClassifyOptions = {}): Outcome {
  if (Object(result) !== result) return { verdict: "success", reason: "" }
  // Not instanceof: a test runner may have a realm of its own.
  const isError = /(Error|Exception)]/.test(Object.prototype.toString.call(result))
  const judge = (reason: string, ...kinds: readonly string[]): Outcome => ({
    verdict: retryOn.some((it) => [reason, ...kinds].includes(String(it))) ? "transient" : "permanent",
    reason,
  })
  if (isStop(result)) return { verdict: "permanent", reason: classify(result.cause).reason || "thrown" }
  const failure = isError && networkFailureOf(result)
  if (failure) return judge(failure, CERTIFICATE.test(failure) ? "error" : "network")
  const { response = result, $response = response, $metadata, $retryable, name } = Object(result)
  const { status = $metadata?.httpStatusCode, statusCode = status, headers } = Object($response)
  const isResponse = isError || "headers" in Object(response)
  const text = isResponse && typeof statusCode === "number" ? String(statusCode) : ""
  const isTemporary = isError && $metadata && ($retryable || AWS_TEMPORARY.test(name))
  if (isTemporary || (/^[1-9]\d\d$/.test(text) && !(isError && text < "3"))) {
    if (text[0] === "2") return { verdict: "success", reason: text }
    const header = (name: string): string | undefined => headers?.get?.(name) ?? headers?.[name]
    const retryAfter = parseRetryAfter(header("retry-after"), { date: header("date"), now })
    if (isTemporary) return { ...judge(name, text, "5xx"), retryAfter }
    // RFC 9110, 15 takes a status beyond 599 for one of 5xx.
    return { ...judge(text, `${Math.min(5, +text[0]!)}xx`), retryAfter }
  }
  if (!isError) return { verdict: "success", reason: "" }
  const words = wordsOf(result)
  const [reason = "error"] = words
  return judge(reason, words.includes("AbortError") ? reason : "error")
}

/** Finds the failure of the network, or of a certificate, among an error, the errors that it gathers, and their causes. */
function networkFailureOf(error: unknown): string | undefined {
  const errors = new Set([error])
  let unnamed: string | undefined
  for (const one of errors) {
    const known = wordsOf(one).find((word) => NETWORK.test(word) || CERTIFICATE.test(word))
    if (known) return known
    const { name, message, cause, errors: gathered } = Object(one)
    // Fetch of undici reports a blocked port, an unknown scheme and too many redirects by a cause without a code; Deno names certificates.
    const isFinal = message === "fetch failed" ? cause && wordsOf(cause).length < 2 : /certificate/.test(message)
    if (name === "TypeError" && FETCH_FAILED.test(message) && !isFinal) unnamed = "network"
    // Causes may form a circle.
    for (const inner of [cause].concat(gathered)) if (errors.size < 20) errors.add(inner)
  }
  return unnamed
}

/** Returns the code of an error and its name, as far as they are text: the codes of a DOMException are numbers. */
function wordsOf(error: unknown): string[] {
  const { code, name } = Object(error)
  return [code, name].filter((word) => typeof word === "string")
}
