import { describe, expect } from "@effect/vitest"
import { createIdentifier, type OperatorId } from "@outreach/domain/Identifier"
import {
  type Operator,
  PARTNER_ROLES,
  SESSION_IDLE_SECONDS,
  SESSION_SECONDS,
} from "@outreach/domain/operators/Operator"
import {
  addOperator,
  createSignInLink,
  OperatorRepository,
  removeOperator,
  setOperatorRole,
  signIn,
} from "@outreach/domain/operators/Operators"
import { createOrganization, OrganizationRepository } from "@outreach/domain/organizations/Organizations"
import { OldRows } from "@outreach/postgres/OldRows"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { column, sql } from "@outreach/testing/sql"
import { Effect, Exit, Redacted } from "effect"
import type { SecureRandom } from "effect/crypto"

const { test } = testsOnDatabase()

let added = 0
const add = (values: Partial<Omit<Operator, "id">> = {}) =>
  Effect.suspend(() => addOperator({ name: `Operator ${++added}`, role: "operator", organizationId: null, ...values }))
const link = (operatorId: OperatorId, { seconds = 3600, once = true } = {}) =>
  Effect.map(createSignInLink(operatorId, { seconds, once }), ({ token }) => Redacted.value(token))
const signedIn = Effect.gen(function* () {
  const operator = yield* add()
  const session = yield* signIn({ linkToken: yield* link(operator.id) })
  return { operators: yield* OperatorRepository, operator, token: Redacted.value(session!.token) }
})
const inSql = (statement: string) => sql.unsafe(statement)

describe("an operator", () => {
  test("is listed with the open sessions", function* () {
    const operators = yield* OperatorRepository
    const organization = yield* createOrganization("Acme")
    const ada = yield* addOperator({ name: "Ada", role: "viewer", organizationId: organization.id })
    expect(ada).toEqual({ id: expect.any(String), name: "Ada", role: "viewer", organizationId: organization.id })
    yield* signIn({ name: "Ada" })
    yield* signIn({ name: "Ada" })
    const listed = (yield* operators.list).find(({ id }) => id === ada.id)
    expect(listed).toEqual({
      ...ada,
      createdAt: expect.any(String),
      removedAt: null,
      sessions: 2,
      lastUsedAt: expect.any(String),
    })
  })

  test("has a unique name until the operator is removed", function* () {
    const operators = yield* OperatorRepository
    const first = yield* add({ name: "Grace" })
    expect(yield* Effect.flip(add({ name: "Grace" }))).toMatchObject({ _tag: "OperatorNameTaken", name: "Grace" })
    yield* operators.remove(first.id)
    expect((yield* add({ name: "Grace" })).id).not.toBe(first.id)
  })

  test("isn't added to an organization that does not exist", function* () {
    const organizationId = yield* createIdentifier("organization")
    const failure = yield* Effect.flip(addOperator({ name: "Nobody", role: "viewer", organizationId }))
    expect(failure).toMatchObject({ _tag: "OrganizationNotFound" })
  })

  test("with the role of a partner belongs to an organization, at the start and after each change", function* () {
    const unbound = { _tag: "PartnerUnbound" }
    const { id: organizationId } = yield* createOrganization("Bound")
    for (const role of PARTNER_ROLES) {
      expect(yield* Effect.flip(add({ role }))).toMatchObject(unbound)
      const staff = yield* add()
      expect(yield* Effect.flip(setOperatorRole(staff.id, role))).toMatchObject(unbound)
      const bound = yield* add({ role: "viewer", organizationId })
      expect(yield* setOperatorRole(bound.id, role)).toEqual({ ...bound, role })
      const statements = [
        `insert into operators (id, name, role) values ('opr_x', 'x', '${role}')`,
        `update operators set organization_id = null where id = '${bound.id}'`,
        `update operators set role = '${role}' where id = '${staff.id}'`,
      ]
      for (const statement of statements) {
        expect(String((yield* Effect.flip(inSql(statement))).cause)).toContain("ConstraintError")
      }
    }
  })

  test("who is a partner's admin acts as a partner while self-service is off, in open and new sessions", function* () {
    const { id: organizationId } = yield* createOrganization("Self-service")
    const admin = yield* add({ role: "partner-admin", organizationId })
    const { setLimits } = yield* OrganizationRepository
    const { findSession, find } = yield* OperatorRepository
    const { token } = (yield* signIn({ name: admin.name }))!
    const roles = Effect.gen(function* () {
      const begun = yield* signIn({ name: admin.name })
      return [(yield* findSession(Redacted.value(token)))!.role, begun!.operator.role]
    })
    expect(yield* roles).toEqual(["partner-admin", "partner-admin"])
    yield* setLimits(organizationId, { selfService: false })
    expect(yield* roles).toEqual(["partner", "partner"])
    expect(yield* find(admin.id)).toEqual(admin)
    yield* setLimits(organizationId, { selfService: true })
    expect(yield* roles).toEqual(["partner-admin", "partner-admin"])
  })

  test("has the new role in open sessions", function* () {
    const { operators, operator, token } = yield* signedIn
    yield* setOperatorRole(operator.id, "viewer")
    expect(yield* operators.findSession(token)).toEqual({ ...operator, role: "viewer" })
  })

  test("loses all sessions and links after the removal, and can't create new ones", function* () {
    const { operators, operator, token } = yield* signedIn
    const unused = yield* link(operator.id)
    yield* operators.remove(operator.id)
    expect(yield* operators.findSession(token)).toBeUndefined()
    expect(yield* operators.findSignInLink(unused)).toBeUndefined()
    expect(yield* signIn({ linkToken: unused })).toBeUndefined()
    expect(yield* signIn({ name: operator.name })).toBeUndefined()
    const attempts = [operators.find(operator.id), operators.remove(operator.id), link(operator.id)].map(
      (attempt: Effect.Effect<unknown, unknown, OperatorRepository | SecureRandom.SecureRandom>) =>
        Effect.flip(attempt),
    )
    for (const failure of yield* Effect.all(attempts)) expect(failure).toMatchObject({ _tag: "OperatorNotFound" })
    expect((yield* operators.list).find(({ id }) => id === operator.id)?.removedAt).toEqual(expect.any(String))
  })

  test("doesn't get a session if removed while signing in", function* () {
    const operators = yield* OperatorRepository
    const tokens: Array<string> = []
    for (let i = 0; i < 5; i++) {
      const operator = yield* add()
      const token = yield* link(operator.id)
      const [session] = yield* Effect.all([signIn({ linkToken: token }), operators.remove(operator.id)], {
        concurrency: "unbounded",
      })
      if (session !== undefined) tokens.push(Redacted.value(session.token))
    }
    for (const token of tokens) expect(yield* operators.findSession(token)).toBeUndefined()
  })
})

/** Removes every admin, which is only possible with SQL. */
const withoutAdmins = inSql(`update operators set removed_at = now() where role = 'admin' and removed_at is null`)

describe("the last admin of all organizations", () => {
  test("can't be removed or demoted until there is a second one", function* () {
    yield* withoutAdmins
    const { id: organizationId } = yield* createOrganization("With an admin")
    const bound = yield* add({ role: "admin", organizationId })
    const first = yield* add({ role: "admin" })
    const last = { _tag: "LastAdmin", operatorId: first.id, message: expect.stringContaining("Add another admin") }
    expect(yield* Effect.flip(removeOperator(first.id))).toMatchObject(last)
    expect(yield* Effect.flip(setOperatorRole(first.id, "operator"))).toMatchObject(last)
    expect(yield* setOperatorRole(first.id, "admin")).toEqual(first)
    expect(yield* removeOperator(bound.id)).toEqual(bound)
    const second = yield* setOperatorRole((yield* add()).id, "admin")
    yield* setOperatorRole(first.id, "viewer")
    yield* removeOperator(first.id)
    expect(yield* Effect.flip(removeOperator(second.id))).toMatchObject({ _tag: "LastAdmin" })
  })

  test("remains when all admins remove or demote each other at the same time", function* () {
    for (let round = 0; round < 3; round++) {
      yield* withoutAdmins
      const admins = yield* Effect.all(Array.from({ length: 4 }, () => add({ role: "admin" })))
      const ends = yield* Effect.all(
        admins.map(({ id }, i) => Effect.exit(i % 2 === 0 ? removeOperator(id) : setOperatorRole(id, "viewer"))),
        { concurrency: "unbounded" },
      )
      expect(ends.filter(Exit.isSuccess)).toHaveLength(3)
      const left = (yield* (yield* OperatorRepository).list).filter(
        ({ role, organizationId, removedAt }) => role === "admin" && organizationId === null && removedAt === null,
      )
      expect(left).toHaveLength(1)
    }
  })
})

test("the sessions of an operator are listed without their tokens, the last used first, and are closed one by one or together", function* () {
  const { operators, operator, token } = yield* signedIn
  const other = yield* signedIn
  yield* signIn({ name: operator.name })
  yield* inSql(`
      update operator_sessions set last_used_at = now() + interval '1 minute' where hash = sha256(convert_to('${token}', 'UTF8'))`)
  const listed = yield* operators.listSessions(operator.id)
  expect(listed).toEqual(
    Array(2).fill({
      id: expect.stringMatching(/^ses_[0-9a-f]{32}$/),
      createdAt: expect.any(String),
      lastUsedAt: expect.any(String),
      expiresAt: expect.any(String),
    }),
  )
  expect(yield* operators.endSessions(operator.id, listed[0]!.id)).toBe(1)
  expect(yield* operators.findSession(token)).toBeUndefined()
  const [left] = yield* operators.listSessions(other.operator.id)
  for (const sessionId of [listed[0]!.id, left!.id]) {
    expect(yield* Effect.flip(operators.endSessions(operator.id, sessionId))).toMatchObject({ _tag: "SessionNotFound" })
  }
  yield* signIn({ name: operator.name })
  expect(yield* operators.endSessions(operator.id)).toBe(2)
  expect(yield* operators.listSessions(operator.id)).toEqual([])
  expect(yield* operators.findSession(other.token)).toEqual(other.operator)
})

describe("a sign-in link", () => {
  test("for one use creates one session, even if it is used concurrently", function* () {
    const operators = yield* OperatorRepository
    const operator = yield* add()
    const token = yield* link(operator.id)
    const sessions = yield* Effect.replicateEffect(signIn({ linkToken: token }), 20, { concurrency: "unbounded" })
    expect(sessions.filter((session) => session !== undefined)).toHaveLength(1)
    expect((yield* operators.list).find(({ id }) => id === operator.id)?.sessions).toBe(1)
  })

  test("is found without being used, once or as often as it may be used", function* () {
    const operators = yield* OperatorRepository
    const operator = yield* add()
    const [single, several] = [yield* link(operator.id), yield* link(operator.id, { once: false })]
    for (const [token, once] of [
      [single, true],
      [several, false],
    ] as const) {
      expect(yield* operators.findSignInLink(token)).toEqual({ operator, once })
      const session = yield* signIn({ linkToken: token })
      expect(session!.operator).toEqual(operator)
      expect(yield* operators.findSignInLink(token)).toEqual(once ? undefined : { operator, once })
    }
    expect(yield* signIn({ linkToken: several })).toBeDefined()
  })

  test("that has expired or doesn't exist doesn't create a session", function* () {
    const operators = yield* OperatorRepository
    const expired = yield* link((yield* add()).id, { seconds: 0 })
    for (const token of [expired, "", "a".repeat(43)]) {
      expect(yield* operators.findSignInLink(token)).toBeUndefined()
      expect(yield* signIn({ linkToken: token })).toBeUndefined()
    }
  })
})

describe("a session", () => {
  test("is only created for the operator that a proxy names, and is found by its token until it is closed", function* () {
    const operators = yield* OperatorRepository
    const operator = yield* add({ name: "ada@hospital.example" })
    const session = yield* signIn({ name: "ada@hospital.example" })
    const token = Redacted.value(session!.token)
    expect(yield* operators.findSession(token)).toEqual(operator)
    expect(yield* signIn({ name: "ADA@hospital.example" })).toBeUndefined()
    yield* operators.endSession(token)
    expect(yield* operators.findSession(token)).toBeUndefined()
  })

  test("expires after 12 hours without use, and after 7 days in any case", function* () {
    const operators = yield* OperatorRepository
    const [idle, old] = [yield* signedIn, yield* signedIn]
    yield* inSql(`update operator_sessions set last_used_at = now() - interval '${SESSION_IDLE_SECONDS} seconds'
      where operator_id = '${idle.operator.id}'`)
    expect(yield* operators.findSession(idle.token)).toBeUndefined()
    yield* inSql(`update operator_sessions set expires_at = expires_at - interval '${SESSION_SECONDS} seconds'
      where operator_id = '${old.operator.id}'`)
    expect(yield* operators.findSession(old.token)).toBeUndefined()
  })

  test("records its use at most once a minute, and ignores requests that don't count as use", function* () {
    const { operators, operator, token } = yield* signedIn
    const lastUsedAt = Effect.map(operators.list, (all) => all.find(({ id }) => id === operator.id)!.lastUsedAt)
    const begun = yield* lastUsedAt
    yield* operators.findSession(token)
    expect(yield* lastUsedAt).toBe(begun)
    yield* inSql(`update operator_sessions set last_used_at = last_used_at - interval '2 minutes'
      where operator_id = '${operator.id}'`)
    const before = yield* lastUsedAt
    expect(yield* operators.findSession(token, { isUse: false })).toEqual(operator)
    expect(yield* lastUsedAt).toBe(before)
    yield* Effect.replicateEffect(operators.findSession(token), 10, { concurrency: "unbounded" })
    expect((yield* lastUsedAt)! >= begun!).toBe(true)
  })
})

describe("the database", () => {
  test("doesn't contain tokens", function* () {
    const { operator, token } = yield* signedIn
    const unused = yield* link(operator.id)
    const rows = yield* column<string>`
      select l::text as row from sign_in_links l union all select s::text from operator_sessions s`
    expect(rows.length).toBeGreaterThan(1)
    expect(rows.filter((row) => row.includes(token) || row.includes(unused))).toEqual([])
  })

  test("deletes expired links and sessions", function* () {
    yield* inSql("delete from operator_sessions")
    yield* inSql("delete from sign_in_links")
    const { operators, operator, token } = yield* signedIn
    const other = yield* signedIn
    yield* inSql(`update operator_sessions set expires_at = now() where operator_id = '${other.operator.id}'`)
    const open = yield* link(operator.id)
    yield* link(operator.id, { seconds: 0 })
    yield* (yield* OldRows).deleteSignIns
    expect(yield* inSql("select count(*)::int as sessions from operator_sessions")).toEqual([{ sessions: 1 }])
    expect(yield* operators.findSession(token)).toEqual(operator)
    expect(yield* inSql("select from sign_in_links where expires_at < now()")).toEqual([])
    expect(yield* operators.findSignInLink(open)).toBeDefined()
  })
})
