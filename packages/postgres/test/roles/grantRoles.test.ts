import { randomBytes } from "node:crypto"
import { NotOwner, runMigrations } from "@outreach/postgres/migrations/runMigrations"
import { type GrantedRole, RoleNotFound } from "@outreach/postgres/roles/grantRoles"
import {
  FUNCTION_GRANTS,
  ROLE_KINDS,
  type RoleKind,
  SECRET_COLUMNS,
  TABLE_GRANTS,
} from "@outreach/postgres/roles/grants"
import { describeDatabaseError } from "@outreach/postgres-connection/describeDatabaseError"
import { SESSION_SETTINGS } from "@outreach/postgres-connection/sessionSettings"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { effectTest, runWith } from "@outreach/testing/runWith"
import { inTransaction, sql } from "@outreach/testing/sql"
import { asRole } from "@outreach/testing/testRoles"
import { Effect } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"

const migrated = migratedDatabase()
const asOwner = runWith(() => testDatabaseLayer(migrated()))

describe("the declared rights", () => {
  it("list exactly the existing tables", async () => {
    const rows = await asOwner(
      sql.unsafe<{ name: string }>(`select relname as name from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`),
    )
    expect(
      Object.keys(TABLE_GRANTS).sort(),
      "List the rights of each process on each table in TABLE_GRANTS of packages/postgres/src/roles/grants.ts, and secret columns in SECRET_COLUMNS.",
    ).toEqual(rows.map(({ name }) => name).sort())
  })

  it("list every security definer function; only these roles may call it, and its search_path is fixed", async () => {
    const rows = await asOwner(
      sql.unsafe<{ name: string; isPublic: boolean; settings: ReadonlyArray<string> | null }>(`
        select proname as name, proconfig as settings,
          proacl is null or exists (select from aclexplode(proacl) where grantee = 0) as "isPublic"
        from pg_proc where pronamespace = 'public'::regnamespace and prosecdef`),
    )
    expect(
      rows.map(({ name }) => name).sort(),
      "List the roles that may call each security definer function in FUNCTION_GRANTS of packages/postgres/src/roles/grants.ts.",
    ).toEqual(Object.keys(FUNCTION_GRANTS).sort())
    for (const { name, isPublic, settings } of rows) {
      expect({ name, isPublic, settings }).toEqual({ name, isPublic: false, settings: expect.any(Array) })
      expect(settings!.filter((setting) => setting.startsWith("search_path="))).toHaveLength(1)
    }
  })

  it("list existing secret columns", async () => {
    for (const [table, columns] of Object.entries(SECRET_COLUMNS)) {
      await asOwner(sql.unsafe(`select ${columns.join(", ")} from ${table}`))
    }
  })
})

describe("a role", () => {
  const runAs = Object.fromEntries(
    ROLE_KINDS.map((kind) => [kind, runWith(() => testDatabaseLayer(asRole(migrated(), kind)))]),
  ) as Record<RoleKind, typeof asOwner>
  /** Runs a statement as a role of a kind in a transaction that is rolled back; returns the SQLSTATE of its failure. */
  const tried = async (kind: RoleKind, statement: string): Promise<string | undefined> => {
    const attempt = inTransaction(Effect.andThen(sql.unsafe(statement), Effect.fail("rolled back" as const)))
    const failure = await runAs[kind](Effect.flip(attempt))
    return failure === "rolled back" ? undefined : describeDatabaseError(failure).code
  }
  const REFUSED = "42501"

  it.each([
    ["api", "select ciphertext from signing_secrets"],
    ["api", "update api_keys set last_used_at = now()"],
    ["api", "select from recipients"],
    ["api", "insert into campaign_count_changes (organization_id, campaign_id, unsubscribed) values ('', '', 1)"],
    ["worker", "insert into unsubscriptions select * from unsubscriptions"],
    ["worker", "insert into events select * from events"],
    ["worker", "select ciphertext from signing_secrets"],
    ["worker", "select from keep_partitions('events')"],
    ["worker", "select disable_endpoint('whe_x', 1, 'gone')"],
    ["worker", "select 1 / (current_identity() is not null)::integer"],
    ["operator", "insert into organizations (id, name) values ('org_x', 'x')"],
    [
      "operator",
      "insert into audit_log (os_user, host, command, arguments, objects, organizations) values ('', '', '', '{}', '{}', '{}')",
    ],
  ] as const)("of the %s may %s", async (kind, statement) => {
    expect(await tried(kind, statement)).toBeUndefined()
  })

  it.each([
    ["api", "update api_keys set revoked_at = null"],
    ["api", "insert into api_keys select * from api_keys"],
    ["api", "update campaigns set status = 'cancelled'"],
    ["api", "select from campaign_count_changes"],
    ["api", "delete from events"],
    ["api", "update inbox set body = ''"],
    ["api", "select from audit_log"],
    ["api", "create table mine ()"],
    ["worker", "select from api_keys"],
    ["worker", "insert into signing_secrets (organization_id, ciphertext) values ('', '')"],
    ["worker", "update events set type = ''"],
    ["worker", "delete from suppressions"],
    ["worker", "update qualifications set npi = ''"],
    ["worker", "insert into erased_clinicians (organization_id, hash) values ('', '')"],
    ["worker", "update erasure_keys set ciphertext = ''"],
    ["worker", "delete from events"],
    ["worker", "select from audit_log"],
    ["worker", "update webhook_endpoints set enabled = false"],
    ["worker", "truncate messages"],
    ["worker", "alter table delivered add column mine text"],
    ["worker", "drop table delivered_default"],
    ["worker", "alter table events detach partition events_later"],
    ["api", "select from keep_partitions('delivered', 30)"],
    ["operator", "select from keep_partitions('delivered', 30)"],
    ["operator", "select disable_endpoint('whe_x', 1, 'gone')"],
    ["operator", "update audit_log set command = ''"],
    ["operator", "delete from audit_log"],
    ["operator", "truncate audit_log, audit_results"],
    ["operator", "update audit_results set result = 'succeeded'"],
    ["operator", "insert into audit_chain (number, kind, command_id, hash) values (1, 'begun', '', '')"],
    ["operator", "update audit_chain set hash = ''"],
    ["operator", "alter table audit_log disable trigger all"],
    ["operator", "drop trigger audit_log_is_append_only on audit_log"],
    [
      "operator",
      "insert into audit_log (role, os_user, host, command, arguments, objects, organizations) values ('x', '', '', '', '{}', '{}', '{}')",
    ],
    ["operator", "insert into audit_results (command_id, ended_at, result) values ('', now(), 'succeeded')"],
    ["operator", "delete from events"],
    ["operator", "update migrations set checksum = ''"],
    ["operator", "insert into granted_roles (role, kind) values ('x', 'api')"],
    ["reader", "select hash from api_keys"],
    ["reader", "select ciphertext from signing_secrets"],
    ["reader", "select body from stored_responses"],
    ["reader", "delete from recipients"],
  ] as const)("of the %s may not %s", async (kind, statement) => {
    expect(await tried(kind, statement)).toBe(REFUSED)
  })

  it("without ownership can't migrate, and receives the reason", async () => {
    const failure = await runAs.operator(Effect.flip(runMigrations()))
    expect(failure).toBeInstanceOf(NotOwner)
  })

  it("of the operator may read every table, and the reader every table without the secret columns", async () => {
    const tables = await asOwner(
      sql.unsafe<{ name: string; columns: ReadonlyArray<string> }>(`
        select relname as name, array_agg(attname::text) as columns from pg_class join pg_attribute on attrelid = pg_class.oid
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
          and attnum > 0 and not attisdropped group by relname`),
    )
    for (const { name, columns } of tables) {
      expect(await tried("operator", `select from ${name}`)).toBeUndefined()
      const readable = columns.filter((column) => !SECRET_COLUMNS[name]?.includes(column))
      expect(await tried("reader", `select ${readable.join(", ")} from ${name}`)).toBeUndefined()
    }
  })
})

describe("granting", () => {
  const url = migratedDatabase()
  const run = runWith(() => testDatabaseLayer(url()))
  const test = effectTest(run)
  // Roles belong to the server, which other tests share.
  const prefix = `grant_${randomBytes(6).toString("hex")}`
  const roleOf = (kind: string) => `${prefix}_${kind}`
  const roles: ReadonlyArray<GrantedRole> = ROLE_KINDS.map((kind) => ({ role: roleOf(kind), kind }))
  const all = [...ROLE_KINDS, "gone", "stranger"].map(roleOf)
  const migrate = (grantTo: ReadonlyArray<GrantedRole> = [], options: Parameters<typeof runMigrations>[0] = {}) =>
    runMigrations({ grantTo, report: () => Effect.void, ...options })
  const may = (kind: string, table: string, privilege: string) =>
    Effect.map(
      sql.unsafe<{ may: boolean }>(`select has_table_privilege('${roleOf(kind)}', '${table}', '${privilege}') as may`),
      ([row]) => row!.may,
    )

  beforeAll(() => run(Effect.forEach(all, (role) => sql.unsafe(`create role ${role}`))))
  // The state of a migrated database before rights were granted.
  beforeEach(() =>
    run(
      Effect.all([
        sql.unsafe("delete from granted_roles"),
        sql.unsafe(`drop owned by ${all.join(", ")}`),
        sql.unsafe("grant usage, create on schema public to public"),
      ]),
    ),
  )
  afterAll(() =>
    run(
      Effect.forEach(all, (role) =>
        Effect.ignore(Effect.andThen(sql.unsafe(`drop owned by ${role}`), sql.unsafe(`drop role ${role}`))),
      ),
    ),
  )

  test("rejects a role that doesn't exist, before any change", function* () {
    const failure = yield* Effect.flip(migrate([...roles, { role: `${prefix}_nobody`, kind: "api" }]))
    expect(failure).toBeInstanceOf(RoleNotFound)
    expect(failure.message).toContain(`has no role ${prefix}_nobody; nothing was changed`)
    expect([yield* sql.unsafe("select from granted_roles"), yield* may("worker", "events", "insert")]).toEqual([
      [],
      false,
    ])
  })

  test("doesn't change catalog rows if the rights are correct", function* () {
    yield* migrate(roles)
    const state = sql.unsafe(`
      select oid, xmin::text from pg_class where relnamespace = 'public'::regnamespace
      union all select attrelid, xmin::text from pg_attribute where attacl is not null
      union all select oid, xmin::text from pg_namespace order by 1, 2`)
    const before = yield* state
    yield* migrate(roles)
    expect(yield* state).toEqual(before)
  })

  test("revokes unneeded rights", function* () {
    yield* migrate(roles)
    yield* sql.unsafe(`grant delete, truncate on events to ${roleOf("worker")}`)
    yield* sql.unsafe(`grant select (hash) on api_keys to ${roleOf("reader")}`)
    yield* migrate()
    expect([yield* may("worker", "events", "delete"), yield* may("worker", "events", "truncate")]).toEqual([
      false,
      false,
    ])
    const [row] = yield* sql.unsafe(
      `select has_column_privilege('${roleOf("reader")}', 'api_keys', 'hash', 'select') as may`,
    )
    expect(row).toEqual({ may: false })
  })

  test("remembers the roles, so that later tables are included", function* () {
    yield* migrate(roles)
    yield* sql.unsafe("create table later ()")
    yield* Effect.addFinalizer(() => Effect.orDie(sql.unsafe("drop table later")))
    yield* sql.unsafe(`revoke insert on events from ${roleOf("worker")}`)
    yield* migrate()
    expect([yield* may("reader", "later", "select"), yield* may("worker", "events", "insert")]).toEqual([true, true])
  })

  test("grants a role with several kinds the rights of all of them", function* () {
    yield* migrate([
      { role: roleOf("api"), kind: "api" },
      { role: roleOf("api"), kind: "worker" },
    ])
    expect([yield* may("api", "events", "insert"), yield* may("api", "api_keys", "select")]).toEqual([true, true])
  })

  test("reports a role that no longer exists, and continues", function* () {
    yield* migrate([...roles, { role: roleOf("gone"), kind: "reader" }])
    yield* sql.unsafe(`drop owned by ${roleOf("gone")}`)
    yield* sql.unsafe(`drop role ${roleOf("gone")}`)
    yield* Effect.addFinalizer(() => Effect.orDie(sql.unsafe(`create role ${roleOf("gone")}`)))
    const messages: Array<string> = []
    yield* migrate([], { report: (message) => Effect.sync(() => void messages.push(message)) })
    expect(messages).toEqual([`The role ${roleOf("gone")}, which had rights, no longer exists; it was skipped.`])
  })

  test("revokes the schema from PUBLIC, but not before a role was granted", function* () {
    yield* migrate()
    const everyone = sql.unsafe(`select has_schema_privilege('${roleOf("stranger")}', 'public', 'usage') as may`)
    expect(yield* everyone).toEqual([{ may: true }])
    yield* migrate(roles)
    expect(yield* everyone).toEqual([{ may: false }])
  })

  test("applies the session settings to roles on request", function* () {
    yield* migrate(roles)
    const settings = sql.unsafe<{ settings: ReadonlyArray<string> }>(`
      select setconfig as settings from pg_db_role_setting join pg_roles on pg_roles.oid = setrole
      where rolname = '${roleOf("worker")}'`)
    expect(yield* settings).toEqual([])
    yield* migrate([], { withSessionSettings: true })
    const wanted = Object.entries(SESSION_SETTINGS).map(([name, value]) => `${name}=${value}`.toLowerCase())
    const [row] = yield* settings
    expect(row!.settings.map((setting) => setting.toLowerCase())).toEqual(wanted)
  })
})
