import { OperatorRepository } from "@outreach/postgres/operators/OperatorRepository"
import { Effect, Layer } from "effect"
import { ConsoleConfig } from "../ConsoleConfig.ts"
import { Sessions } from "../http/Sessions.ts"
import { sessionCookie } from "./sessionCookie.ts"

/** Finds the session of a request by its cookie. */
export const currentSession = Layer.effect(
  Sessions,
  Effect.gen(function* () {
    const operators = yield* OperatorRepository
    const { consoleUrl } = yield* ConsoleConfig
    const cookie = sessionCookie(consoleUrl)
    return {
      find: Effect.fnUntraced(function* ({ cookies }) {
        const sessionToken = cookies[cookie]
        if (sessionToken === undefined) return undefined
        const operator = yield* operators.findSession(sessionToken)
        return operator && { operator, sessionToken }
      }),
    }
  }),
)
