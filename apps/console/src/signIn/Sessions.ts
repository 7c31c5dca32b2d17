import type { IncomingMessage } from "node:http"
import { type Operator, OperatorName, SESSION_SECONDS } from "@outreach/domain/operators/Operator"
import { OperatorRepository } from "@outreach/domain/operators/OperatorRepository"
import { signInByName } from "@outreach/domain/operators/Operators"
import { parseInput } from "@outreach/domain/parseInput"
import { addressLimit } from "@outreach/process/addressLimit"
import { clientAddress, type TrustProxy } from "@outreach/process/trustProxy"
import { Clock, Context, Duration, Effect, Layer, Redacted, Result } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { ConsoleConfig } from "../ConsoleConfig.ts"
import { audited } from "../http/audited.ts"
import { PageError } from "../http/PageError.ts"

/** What a partner may do in a clock minute, in each process: more than a person does. Each action stays in the audit log for good. */
export const MAX_PARTNER_ACTIONS = 60

/** The number of sessions that are remembered as good. They are served although others fail at the same address. */
const MAX_GOOD_SESSIONS = 10_000

export interface SignedIn {
  readonly operator: Operator
  readonly sessionToken: string
  /** Whether the session begins with this request, so that the browser has yet to get its cookie. */
  readonly isNew: boolean
}

type Response = HttpServerResponse.HttpServerResponse

/** Finds the session of a request by its cookie. Behind a proxy that signs in, the session must be of the operator that the proxy names. */
export class Sessions extends Context.Service<Sessions>()("console/signIn/Sessions", {
  make: Effect.gen(function* () {
    const config = yield* ConsoleConfig
    const { consoleUrl, proxyHeader, trustProxy } = config
    const operators = yield* OperatorRepository
    const limit = signInLimit(config)
    const isTls = consoleUrl.startsWith("https:")
    // With this prefix, browsers take the cookie from this host alone.
    const cookie = isTls ? "__Host-session" : "session"
    const attributes = { path: "/", httpOnly: true, sameSite: "strict", secure: isTls } as const
    const good = new Set<string>()
    const actions = addressLimit(MAX_PARTNER_ACTIONS, (operatorId) => operatorId)

    const findByCookie = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const sessionToken = request.cookies[cookie]
      if (sessionToken === undefined) return undefined
      if (countCookies(request.headers["cookie"] ?? "", cookie) > 1) return yield* twoSessions
      if (!good.has(sessionToken)) yield* limit.check(request)
      // A page that is left open renews itself by its scripts, which is no use: the session ends as if the page were closed.
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
      // A form carries the token of a session that has ended, or is of another operator.
      if (request.method !== "GET") return undefined
      yield* limit.check(request)
      const session = yield* signInByName(name)
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
      /** Counts what a partner does. Fails when it is too much. */
      countAction: Effect.fnUntraced(function* ({ id, role }: Operator) {
        if (role !== "partner") return
        const now = yield* seconds
        const wait = actions.wait(() => id, now)
        if (wait !== undefined) return yield* tooOften("You have done too much in a minute.", wait)
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

/** Another host of the same domain can give the browser a second cookie, and with that somebody else's session. */
const twoSessions = PageError.of(
  400,
  "Not signed in",
  "The browser sent two sessions. Remove this site's cookies from it, and sign in again.",
)

const parseName = parseInput(OperatorName)

/** Reads the name of the operator that a trusted proxy has signed in. Fails if the peer is not such a proxy, or names nobody. */
const proxiedName = (
  { headers, source }: HttpServerRequest.HttpServerRequest,
  { proxyHeader, trustProxy }: { readonly proxyHeader: string; readonly trustProxy: TrustProxy },
): Effect.Effect<string, PageError> => {
  // The header counts from the peer alone: a proxy behind it could pass one on that it did not write.
  const peer = (source as IncomingMessage).socket.remoteAddress
  const given = headers[proxyHeader]
  if (peer === undefined || !trustProxy(peer, 0) || given === undefined) return Effect.fail(notThroughProxy)
  // Node reads headers as Latin-1; proxies write names in UTF-8.
  const name = parseName(Buffer.from(given, "latin1").toString())
  return Result.isSuccess(name) ? Effect.succeed(name.success) : Effect.fail(notThroughProxy)
}

const notThroughProxy = PageError.of(
  403,
  "Not signed in",
  "This console lets in operators that a proxy has signed in, and this request did not come through it. Use CONSOLE_URL.",
)

const unknownOperator = PageError.of(
  403,
  "Not an operator",
  "The proxy has signed you in, but no operator has the name that it gave. An admin can add an operator of this name, in the console or on the command line.",
)

const seconds = Effect.map(Clock.currentTimeMillis, (millis) => millis / 1000)

/** Bounds how often a client address may present a sign-in link or a session that is not valid. */
const signInLimit = (config: ConsoleConfig["Service"]) => {
  const failures = addressLimit(config.unauthenticatedLimit)
  const addressOf = ({ source }: HttpServerRequest.HttpServerRequest) =>
    clientAddress(source as IncomingMessage, config.trustProxy)
  return {
    check: Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const wait = failures.wait(() => addressOf(request), yield* seconds)
      if (wait !== undefined) return yield* tooOften("Too many sign-ins from your address have failed.", wait)
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
