import { execFileSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { Timestamp } from "@outreach/domain/Timestamp"
import { changeAttempts } from "@outreach/testing/seedDeadLetters"
import { inTransaction, sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import fc from "fast-check"
import { renderToString } from "preact-render-to-string"
import { beforeAll, expect, it } from "vitest"
import { ForeignText, visibleText } from "../src/components/values.tsx"
import { routes } from "../src/routes.ts"
import { addressOf, type Seeded, seedOrganization } from "./seedOrganization.ts"
import { type Answer, startConsole, type Visitor } from "./startConsole.ts"
import { temporaryFolder } from "./temporaryFolder.ts"

const { folder } = temporaryFolder()
const test = startConsole()

/** Reverses the following words, rings a bell, starts an isolate that isn't closed, and is evaluated by a shell within double quotes. */
const HOSTILE = "gnp.evil\u202e\u0007\u2066\u2028\u200b$(touch pwned)`touch pwned`"
const MARK = "gnp.evil"
const VISIBLE = String.raw`${MARK}\u{202e}\u{7}\u{2066}\u{2028}\u{200b}`
const RAW = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/** Columns with values of our own, which code compares. Constraints and JSON protect the others of this kind. */
const OWN_WORDS = `
  status state kind stage outcome breaker result list reason command hours owner prefix last_four body
  token hash npi email traceparent algorithm list_unsubscribe url html text scope code`
  .trim()
  .split(/\s+/)

/** Adds hostile text to each text column that accepts it. Returns their names. */
const writeHostileText = Effect.gen(function* () {
  const columns = yield* sql<{ table: string; column: string }>`
    select relname as table, attname as column from pg_class
    join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped and atttypid = 'text'::regtype
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and not exists (select from pg_index where indrelid = pg_class.oid and indisunique and attnum = any (indkey))
      and not exists (select from pg_constraint where conrelid = pg_class.oid and contype = 'f' and attnum = any (conkey))
    order by relname, attname`
  const foreign = columns.filter(
    ({ table, column }) =>
      !column.endsWith("_id") && column !== "id" && !OWN_WORDS.includes(column) && table !== "events",
  )
  const written = yield* Effect.forEach(foreign, ({ table, column }) =>
    Effect.gen(function* () {
      // Triggers reject changes to rows such as those of the audit log.
      yield* sql`set local session_replication_role = replica`
      const rows =
        yield* sql`update ${sql(table)} set ${sql(column)} = ${sql(column)} || ${HOSTILE} where ${sql(column)} <> '' returning 1`
      return rows.length > 0 ? [`${table}.${column}`] : []
    }).pipe(
      inTransaction,
      Effect.catch(() => Effect.succeed([])),
    ),
  )
  return written.flat()
})

/** Adds replies of mail servers and partners, and audit entries. Returns the group of the dead letter. */
const addReplies = Effect.fnUntraced(function* (ids: Seeded["ids"]) {
  const attempt = {
    ...{ number: 1, startedAt: Timestamp.make("2026-11-01T00:00:00.000000Z"), latencyMs: 1 },
    ...{ status: 500, outcome: "http_error", response: HOSTILE },
  }
  yield* changeAttempts(ids.organization, () => [attempt], ids.delivery)
  yield* sql`
    insert into campaign_domains (organization_id, campaign_id, domain, pause_status, paused_until)
    values (${ids.organization}, ${ids.campaign}, ${`${MARK}.test`}, '5.7.1', now() + interval '1 hour')`
  yield* sql`
    insert into late_refusals (organization_id, campaign_id, recipient_id, cause)
    values (${ids.organization}, ${ids.campaign}, ${ids.recipient}, 'policy')`
  yield* sql`
    insert into message_attempts (organization_id, recipient_id, number, outcome, reply)
    values (${ids.organization}, ${ids.recipient}, 9, 'deferred', ${`451 ${HOSTILE}`})`
  yield* sql`
    insert into audit_log (operator, os_user, host, command, arguments, objects, organizations)
    values (${HOSTILE}, ${HOSTILE}, ${HOSTILE}, 'campaigns pause', ${JSON.stringify({ name: HOSTILE })}::text::jsonb, '{}', array[${ids.organization}])`
  yield* sql`
    update inbox set body = jsonb_set(body::jsonb, '{data,consumer_program_slug}', to_jsonb(${HOSTILE}::text))::text
    where organization_id = ${ids.organization}`
  const groups = yield* sql<{ id: string }>`
    select id from failure_groups where organization_id = ${ids.organization} and open > 0`
  return groups[0]!.id
})

let seeded: Seeded
let written: ReadonlyArray<string>
let admin: Visitor

beforeAll(async () => {
  const { ids, ...rest } = await test().run(seedOrganization("acme.test"))
  // The dead letter is of another group after its response was changed.
  seeded = { ...rest, ids: { ...ids, group: await test().run(addReplies(ids)) } }
  written = await test().run(writeHostileText)
  admin = await test().as("admin")
})

/** Returns the elements of a page with foreign text that isn't isolated. */
const notIsolated = ({ document }: Answer): ReadonlyArray<string> =>
  [...document.querySelectorAll("body *")]
    .filter((element) => element.closest("bdi, option, svg") === null)
    .filter(({ childNodes }) => [...childNodes].some((node) => node.nodeType === 3 && node.textContent?.includes(MARK)))
    .map(({ outerHTML }) => outerHTML.slice(0, 200))

const expectHarmless = (address: string, answer: Answer) => {
  expect({ address, status: answer.status }).toEqual({ address, status: 200 })
  expect({ address, raw: RAW.exec(answer.text)?.[0] }).toEqual({ address, raw: undefined })
  expect(answer.text).not.toMatch(/&#(?:x0*20[26]|0*823)/i)
  expect({ address, notIsolated: notIsolated(answer) }).toEqual({ address, notIsolated: [] })
}

/** Runs the commands that the pages offer for copying in a shell, without `ops`. */
const expectNotEvaluated = (answers: ReadonlyArray<Answer>) => {
  const commands = answers.flatMap(({ document }) => [...document.querySelectorAll("aside [data-copy]")])
  const lines = commands.map((button) => button.getAttribute("data-copy")!)
  expect(lines.length).toBeGreaterThan(0)
  execFileSync("sh", ["-c", ["ops() { :; }", ...lines].join("\n")], { cwd: folder })
  expect(readdirSync(folder)).toEqual([])
}

it("is written to columns of many tables", () => {
  const columns = [
    ...["programs.name", "campaigns.name", "campaigns.subject", "organizations.name", "api_keys.name"],
    "inbox.type",
  ]
  expect(written).toEqual(expect.arrayContaining(columns))
})

it("is isolated and visible on every page", async () => {
  const answers: Array<Answer> = []
  for (const route of routes.filter(({ kind }) => kind === "page")) {
    const address = addressOf(route, seeded)
    const answer = await admin.get(address)
    expectHarmless(address, answer)
    answers.push(answer)
  }
  expectNotEvaluated(answers)
  const { recipient } = seeded.ids
  for (const path of ["/", "/campaigns", "/audit", "/issues", "/partners", "/inbox", `/people/${recipient}`]) {
    expect((await admin.get(path)).text, path).toContain(VISIBLE)
  }
})

it("is isolated and visible in responses to forms, and in filters that repeat it", async () => {
  const { delivery, event, organization, recipient } = seeded.ids
  const shown = [
    [`/deliveries/${delivery}/show`, { reveal: "true" }],
    [`/inbox/${event}/show`, { organization, reveal: "true" }],
    [`/people/${recipient}/show`, { reveal: "true" }],
    ["/suppressions/show", { organization }],
  ] as const
  for (const [path, fields] of shown) expectHarmless(path, await admin.post(path, fields))
  expect((await admin.post(`/deliveries/${delivery}/show`, { reveal: "true" })).words).toContain(MARK)
  const filters = ["campaigns?text", "audit?operator", "audit?command", "inbox?reason", "inbox?type"]
  const answers = await Promise.all(filters.map((filter) => admin.get(`/${filter}=${encodeURIComponent(HOSTILE)}`)))
  expect(answers.map(({ text }) => RAW.exec(text))).toEqual(filters.map(() => null))
  expectNotEvaluated(answers)
})

it("keeps every visible character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const visible = visibleText(text)
      expect(visible).not.toMatch(RAW)
      if (!RAW.test(text)) expect(visible).toBe(text)
    }),
  )
})

it("is cut off after a thousand characters", () => {
  const html = renderToString(ForeignText({ children: "a".repeat(5000) }))
  expect(html).toBe(`<bdi>${"a".repeat(1000)}…</bdi>`)
})
