import type { IncomingMessage } from "node:http"
import { isPartner, type Operator, SESSION_SECONDS } from "@outreach/domain/operators/Operator"
import { OperatorRepository, signIn } from "@outreach/domain/operators/Operators"
import { DisplayName, parseInput } from "@outreach/domain/textSchema"
import { addressLimit } from "@outreach/process/addressLimit"
import { clientAddress, type TrustProxy } from "@outreach/process/trustProxy"
import { Clock, Context, Duration, Effect, Layer, Redacted, Result } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { ConsoleConfig } from "../ConsoleConfig.ts"
import { audited } from "../http/audited.ts"
import { PageError } from "../http/PageError.ts"

/** A partner's actions in a clock minute, per process: more than a person needs. The audit log keeps each action forever. */
export const MAX_PARTNER_ACTIONS = 60

/** Number of cached valid sessions. They work even if other sessions fail from the same address. */
const MAX_GOOD_SESSIONS = 10_000

export interface SignedIn {
  readonly operator: Operator
  readonly sessionToken: string
  /** Whether the session starts with this request, so that the browser doesn't have its cookie yet. */
  readonly isNew: boolean
}

type Response = HttpServerResponse.HttpServerResponse

/** Finds the session of a request by its cookie. Behind a proxy that signs in, it must belong to the proxy's operator. */
export class Sessions extends Context.Service<Sessions>()("console/signIn/Sessions", {
  make: Effect.gen(function* () {
    const config = yield* ConsoleConfig
    const { consoleUrl, proxyHeader, trustProxy } = config
    const operators = yield* OperatorRepository
    const limit = signInLimit(config)
    const isTls = consoleUrl.startsWith("https:")
    // With this prefix, browsers only accept the cookie from this host.
    const cookie = isTls ? "__Host-session" : "session"
    const attributes = { path: "/", httpOnly: true, sameSite: "strict", secure: isTls } as const
    const good = new Set<string>()
    const actions = addressLimit(MAX_PARTNER_ACTIONS, (operatorId) => operatorId)

    const findByCookie = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const sessionToken = request.cookies[cookie]
      if (sessionToken === undefined) return undefined
      if (countCookies(request.headers["cookie"] ?? "", cookie) > 1) return yield* twoSessions
      if (!good.has(sessionToken)) yield* limit.check(request)
      // An open page reloads itself without a user, so this doesn't extend the session.
      const isUse = request.headers["sec-fetch-dest"] !== "empty"
      const operator = yield* operators.findSession(sessionToken, { isUse })
      if (operator === undefined) {
        good.delete(sessionToken)
        yield* limit.countFailure(request)
        return undefined
      }
      if (!good.has(sessionToken)) {
        if (good.size >= MAX_GOOD_SESSIONS) good.delete(good.keys().next().value!)
        good.add(sessionToken)
      }
      return { operator, sessionToken, isNew: false } satisfies SignedIn
    })

    const findByProxy = Effect.fnUntraced(function* (
      request: HttpServerRequest.HttpServerRequest,
      proxyHeader: string,
    ) {
      const name = yield* proxiedName(request, { proxyHeader, trustProxy })
      const signedIn = yield* findByCookie(request)
      if (signedIn?.operator.name === name) return signedIn
      // The form's token belongs to an ended session, or to another operator.
      if (request.method !== "GET") return undefined
      yield* limit.check(request)
      const session = yield* signIn({ name })
      if (session === undefined) {
        yield* limit.countFailure(request)
        return yield* unknownOperator
      }
      const { operator, token } = session
      yield* audited("sign-in", { operator: operator.id }, { operator }, Effect.void)
      return { operator, sessionToken: Redacted.value(token), isNew: true } satisfies SignedIn
    })

    return {
      limit,
      /** Counts a partner's actions. Fails above the limit. */
      countAction: Effect.fnUntraced(function* (operator: Operator) {
        if (!isPartner(operator)) return
        const { id } = operator
        const now = yield* seconds
        const wait = actions.wait(() => id, now)
        if (wait !== undefined) return yield* tooOften("You have made too many changes in a minute.", wait)
        actions.countFailure(id, now)
      }),
      find: (request: HttpServerRequest.HttpServerRequest) =>
        proxyHeader === null ? findByCookie(request) : findByProxy(request, proxyHeader),
      setCookie: (response: Response, sessionToken: string): Response =>
        HttpServerResponse.setCookieUnsafe(response, cookie, sessionToken, {
          ...attributes,
          maxAge: Duration.seconds(SESSION_SECONDS),
        }),
      removeCookie: (response: Response): Response =>
        HttpServerResponse.setCookieUnsafe(response, cookie, "", { ...attributes, maxAge: 0 }),
    }
  }),
}) {
  static readonly layer = Layer.effect(Sessions, Sessions.make)
}

const countCookies = (header: string, name: string): number =>
  header.split(";").filter((pair) => pair.split("=")[0]!.trim() === name).length

/** Another host of the domain can set a second cookie, with another person's session. */
const twoSessions = PageError.of(
  400,
  "Not signed in",
  "The browser sent two session cookies. Delete this site's cookies and sign in again.",
)

const parseName = parseInput(DisplayName)

/** Reads the operator's name from a trusted proxy. Fails if the peer isn't a trusted proxy, or names no operator. */
const proxiedName = (
  { headers, source }: HttpServerRequest.HttpServerRequest,
  { proxyHeader, trustProxy }: { readonly proxyHeader: string; readonly trustProxy: TrustProxy },
): Effect.Effect<string, PageError> => {
  // Only the peer's header counts: a client behind the proxy could set one, too.
  const peer = (source as IncomingMessage).socket.remoteAddress
  const given = headers[proxyHeader]
  if (peer === undefined || !trustProxy(peer, 0) || given === undefined) return Effect.fail(notThroughProxy)
  // Node decodes headers as Latin-1; proxies write names in UTF-8.
  const name = parseName(Buffer.from(given, "latin1").toString())
  return Result.isSuccess(name) ? Effect.succeed(name.success) : Effect.fail(notThroughProxy)
}

const notThroughProxy = PageError.of(
  403,
  "Not signed in",
  "This request didn't come through the proxy that signs operators in. Open the console at CONSOLE_URL.",
)

const unknownOperator = PageError.of(
  403,
  "Not an operator",
  "You signed in, but there is no operator with your name. Ask an admin to add one in the console or on the command line.",
)

const seconds = Effect.map(Clock.currentTimeMillis, (millis) => millis / 1000)

/** Limits the attempts with invalid links and sessions from a client address. */
const signInLimit = (config: ConsoleConfig["Service"]) => {
  const failures = addressLimit(config.unauthenticatedLimit)
  const addressOf = ({ source }: HttpServerRequest.HttpServerRequest) =>
    clientAddress(source as IncomingMessage, config.trustProxy)
  return {
    check: Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const wait = failures.wait(() => addressOf(request), yield* seconds)
      if (wait !== undefined) return yield* tooOften("Too many failed sign-ins from your IP address.", wait)
    }),
    countFailure: (request: HttpServerRequest.HttpServerRequest) =>
      Effect.map(seconds, (now) => failures.countFailure(addressOf(request), now)),
  }
}

const tooOften = (reason: string, wait: number) =>
  new PageError({
    status: 429,
    title: "Too many attempts",
    messages: [`${reason} Try again in ${wait} s.`],
    retryAfterSeconds: wait,
  })
