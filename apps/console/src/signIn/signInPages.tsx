import type { Operator } from "@outreach/domain/operators/Operator"
import { OperatorRepository, signIn } from "@outreach/domain/operators/Operators"
import { Effect, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ConsoleConfig } from "../ConsoleConfig.ts"
import { CommandLine } from "../components/layout.tsx"
import { audited } from "../http/audited.ts"
import { isFromAnotherSite, openAgain } from "../http/notice.tsx"
import type { PageError } from "../http/PageError.ts"
import { forged, formToken, isFormToken, readForm } from "../http/readForm.ts"
import { renderErrors, renderPlain } from "../http/renderPage.tsx"
import { Sessions } from "./Sessions.ts"

/** The link has expired, was used, or never existed. */
class SignInLinkUnusable extends Schema.TaggedError<SignInLinkUnusable>()("SignInLinkUnusable", {}) {}

const howToSignIn = Effect.map(ConsoleConfig, ({ proxyHeader }) =>
  proxyHeader === null ? (
    <>
      <p>Sign in with a link. Create one on the command line of this deployment, for an existing or a new operator:</p>
      <CommandLine command={["operators list"]} />
      <CommandLine command={["sign-in-links create", { operator: "opr_…" }]} />
      <CommandLine command={["operators create", { name: "…", role: "viewer" }]} />
    </>
  ) : (
    <p>Sign-in is through a proxy. Open this console at the proxy's address.</p>
  ),
)

const signInPage = Effect.map(howToSignIn, (how) => renderPlain("Sign in", how))

/**
 * Shows a button that uses the link. Scanners of e-mails and chat previews follow links, so a GET must not use up a single-use link.
 * A reusable link signs in immediately.
 */
const linkPage = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const link = yield* findLink(request)
  if (!link.once) return yield* beginSession(request, link)
  const { operator } = link
  return renderPlain(
    "Sign in",
    <form class="action" method="post">
      <p>
        This link signs you in as <strong>{operator.name}</strong>, with the role {operator.role}. It works once.
      </p>
      <button type="submit" class="primary">
        Sign in
      </button>
    </form>,
  )
})

const useLink = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  yield* readForm()
  return yield* beginSession(request, yield* findLink(request))
})

const findLink = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  const { proxyHeader } = yield* ConsoleConfig
  const { limit } = yield* Sessions
  yield* limit.check(request)
  const { token = "" } = yield* HttpRouter.params
  const link = proxyHeader === null ? yield* (yield* OperatorRepository).findSignInLink(token) : undefined
  if (link !== undefined) return { ...link, token }
  yield* limit.countFailure(request)
  return yield* new SignInLinkUnusable()
})

const beginSession = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  link: { readonly operator: Operator; readonly token: string },
) {
  const { setCookie } = yield* Sessions
  const begin = Effect.flatMap(signIn({ linkToken: link.token }), (session) =>
    session === undefined ? Effect.fail(new SignInLinkUnusable()) : Effect.succeed(session),
  )
  const { operator } = link
  const { token } = yield* audited("sign-in", { operator: operator.id }, { operator }, begin)
  const toToday = isFromAnotherSite(request)
    ? openAgain("/")
    : HttpServerResponse.empty({ status: 303, headers: { location: "/" } })
  return setCookie(toToday, Redacted.value(token))
})

const signOut = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const sessions = yield* Sessions
  const signedIn = yield* sessions.find(request)
  if (signedIn !== undefined) {
    const form = yield* readForm()
    if (!isFormToken(formToken(signedIn.sessionToken), form)) return yield* forged
    yield* (yield* OperatorRepository).endSession(signedIn.sessionToken)
  }
  return sessions.removeCookie(HttpServerResponse.empty({ status: 303, headers: { location: "/sign-in" } }))
})

const unusableLinkPage = Effect.map(howToSignIn, (how) =>
  renderPlain(
    "Invalid sign-in link",
    <>
      <p class="problem">The link is expired, already used or incorrect.</p>
      {how}
    </>,
    410,
  ),
)

const answered = <R,>(
  method: "GET" | "POST",
  path: `/${string}`,
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, PageError | SignInLinkUnusable, R>,
) => {
  const sent = method === "POST" ? Effect.orElseSucceed(readForm(), () => undefined) : Effect.undefined
  const handled = Effect.catchTag(answer, "SignInLinkUnusable", () => unusableLinkPage)
  return { method, path, answer: renderErrors(path, () => undefined, sent)(handled) }
}

export const signInRoutes = [
  answered("GET", "/sign-in", signInPage),
  answered("GET", "/sign-in/:token", linkPage),
  answered("POST", "/sign-in/:token", useLink),
  answered("POST", "/sign-out", signOut),
]
