import type { OrganizationId } from "@outreach/domain/Identifier"
import type { OperatorRole } from "@outreach/domain/operators/Operator"
import { addOperator, createSignInLink, signIn } from "@outreach/domain/operators/Operators"
import { telemetry } from "@outreach/process/telemetry"
import { SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { ProcessLog } from "@outreach/testing/ProcessLog"
import { migratedDatabase, runOnDatabase } from "@outreach/testing/runOnDatabase"
import { asRole } from "@outreach/testing/testRoles"
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import { parseHTML } from "linkedom"
import { afterAll, beforeAll } from "vitest"
import { ConsoleConfig } from "../src/ConsoleConfig.ts"
import { console } from "../src/console.ts"
import { formToken } from "../src/http/readForm.ts"

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The document; with an empty body if the response isn't HTML. */
  readonly document: Document
  /** The visible words of the page's main part, with single spaces. */
  readonly words: string
}

/** The values of a form. Repeated fields have a list of values. */
type Fields = Readonly<Record<string, string | ReadonlyArray<string>>>

/** The console as an operator uses it. */
export interface Visitor {
  readonly cookie: string
  /** Opens a page without following redirects. */
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Answer>
  /** Sends a form with the session's token and the file, if any, and follows a redirect. */
  readonly post: (path: string, fields?: Fields, file?: File) => Promise<Answer>
}

/** The console in the process of the test, with a dedicated database and the database role of operators. */
export type TestConsole = ReturnType<ReturnType<typeof startConsole>>

/** Returns the texts of the cells of each row of a page's tables, or of those with a caption. */
export const rowsOf = ({ document }: Pick<Answer, "document">, caption?: string) =>
  [...document.querySelectorAll("main table")]
    .filter((table) => caption === undefined || table.querySelector("caption")?.textContent === caption)
    .flatMap((table) => [...table.querySelectorAll("tbody tr")])
    .map(({ children }) => Array.from(children, ({ textContent }) => textContent!.trim()))

/** Starts the console before a file's tests, and stops it after them. */
export const startConsole = (settings: Readonly<Record<string, string>> = {}) => {
  const databaseUrl = migratedDatabase()
  const log = new ProcessLog()
  const scope = Scope.makeUnsafe()
  const run = runOnDatabase({ url: databaseUrl })
  let url: string
  let operators = 0

  beforeAll(async () => {
    const layer = console.pipe(
      Layer.provide(ConsoleConfig.fromEnvironment),
      Layer.provide(telemetry("outreach-console")),
      Layer.provide(log.surroundings(settingsFor(databaseUrl(), settings))),
    )
    const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
    url = HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)
  })
  const stop = () => Effect.runPromise(Scope.close(scope, Exit.void))
  afterAll(stop)

  const addSession = (role: OperatorRole, organizationId: OrganizationId | null) =>
    run(function* () {
      const operator = yield* addOperator({ name: `${role} ${++operators}`, role, organizationId })
      const { token } = yield* createSignInLink(operator.id, { seconds: 3600, once: true })
      const session = yield* signIn({ linkToken: Redacted.value(token) })
      return Redacted.value(session!.token)
    })

  return () => ({
    url,
    databaseUrl: databaseUrl(),
    logs: log.text.split("\n"),
    /** Stops the console before the end of the tests. */
    stop,
    run,
    query: <A>(statement: (sql: SqlClient.SqlClient) => Effect.Effect<A, unknown>) =>
      run(SqlClient.SqlClient.use(statement)),
    /** Adds an operator with a role, for all organizations or for one, and signs the operator in. */
    as: async (role: OperatorRole, organizationId?: OrganizationId) =>
      visitor(url, `session=${await addSession(role, organizationId ?? null)}`),
  })
}

const visitor = (url: string, cookie: string): Visitor => {
  const send = async (path: string, init: RequestInit, more?: string): Promise<Answer> => {
    const headers = { ...(init.headers as Record<string, string>), cookie: more ? `${cookie}; ${more}` : cookie }
    return read(await fetch(`${url}${path}`, { ...init, headers, redirect: "manual" }))
  }
  const get: Visitor["get"] = (path, headers = {}) => send(path, { headers })
  return {
    cookie,
    get,
    post: async (path, fields = {}, file) => {
      const body = file === undefined ? new URLSearchParams() : new FormData()
      const values = { token: formToken(cookie.slice(cookie.indexOf("=") + 1)), ...fields }
      for (const [name, value] of Object.entries(values)) for (const each of [value].flat()) body.append(name, each)
      if (file !== undefined) (body as FormData).append("file", file)
      const answer = await send(path, { method: "POST", body, headers: { origin: url } })
      const to = answer.headers.get("location")
      if (answer.status !== 303 || to === null) return answer
      const notice = answer.headers.getSetCookie().map((each) => each.split(";")[0])
      return send(to, {}, notice.join("; "))
    },
  }
}

const read = async (response: Response): Promise<Answer> => {
  const text = await response.text()
  const { document } = parseHTML(text.startsWith("<!doctype html>") ? text : `<html><body></body></html>`)
  const main = document.querySelector("main") ?? document.body
  return {
    status: response.status,
    headers: response.headers,
    text,
    document,
    words: (main?.textContent ?? "").replace(/\s+/g, " ").trim(),
  }
}

const settingsFor = (databaseUrl: string, settings: Readonly<Record<string, string>>) => ({
  DATABASE_URL: asRole(databaseUrl, "operator"),
  SECRETS_KEY: SECRETS_KEY.toString("base64"),
  PORT: "0",
  ADMIN_PORT: "0",
  DEPLOYMENT: "staging",
  ...settings,
})
