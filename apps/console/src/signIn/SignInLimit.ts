import type { IncomingMessage } from "node:http"
import { addressLimit } from "@outreach/process/addressLimit"
import { clientAddress } from "@outreach/process/trustProxy"
import { Clock, Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import { ConsoleConfig } from "../ConsoleConfig.ts"
import { PageError } from "../http/PageError.ts"

/** Bounds how often a client address may present a sign-in link or a session that is not valid. */
export class SignInLimit extends Context.Service<SignInLimit>()("console/signIn/SignInLimit", {
  make: Effect.gen(function* () {
    const { signInLimit, trustProxy } = yield* ConsoleConfig
    const failures = addressLimit(signInLimit)
    const seconds = Effect.map(Clock.currentTimeMillis, (millis) => millis / 1000)
    const addressOf = ({ source }: HttpServerRequest.HttpServerRequest) =>
      clientAddress(source as IncomingMessage, trustProxy)

    return {
      check: Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
        const wait = failures.wait(() => addressOf(request), yield* seconds)
        if (wait !== undefined) return yield* tooOften(wait)
      }),

      countFailure: (request: HttpServerRequest.HttpServerRequest) =>
        Effect.map(seconds, (now) => failures.countFailure(addressOf(request), now)),
    }
  }),
}) {
  static readonly layer = Layer.effect(SignInLimit, SignInLimit.make)
}

const tooOften = (wait: number) =>
  new PageError({
    status: 429,
    title: "Too many attempts",
    messages: [`Too many sign-ins from your address have failed. Try again in ${wait} s.`],
    retryAfterSeconds: wait,
  })
