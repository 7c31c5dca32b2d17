import { SESSION_SETTINGS } from "@outreach/postgres-connection/sessionSettings"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { sqlState } from "../migrations/replaceFunction.ts"
import { decodeRow, decodeRows } from "../rowsOf.ts"
import { FUNCTION_GRANTS, ROLE_KINDS, type RoleKind, SECRET_COLUMNS, type TableRight, tableRights } from "./grants.ts"

/** A role of the database, and the kind of process that connects with it. */
const GrantedRole = Schema.Struct({ role: Schema.String, kind: Schema.Literals(ROLE_KINDS) })
export type GrantedRole = typeof GrantedRole.Type

const decodeGranted = decodeRows(GrantedRole.fields)
const decodeExists = decodeRow({ exists: Schema.Boolean })
const decodeRoles = decodeRows({ role: Schema.String })
const decodeQuoted = decodeRows({ role: Schema.String, name: Schema.String })
const decodeTables = decodeRows({ name: Schema.String, columns: Schema.Array(Schema.String) })
const decodeFunctions = decodeRows({ name: Schema.String, signature: Schema.String })
const decodeRights = decodeRows({ right: Schema.String, role: Schema.String })
const decodeStatements = decodeRows({ statement: Schema.String })

/** A role does not exist. */
export class RoleNotFound extends Schema.TaggedError<RoleNotFound>()("RoleNotFound", {
  roles: Schema.Array(Schema.String),
}) {
  override get message(): string {
    const names = this.roles.join(" and ")
    return `The database server has no role ${names}; nothing was changed. docs/deployment.md shows how to create the roles.`
  }
}

/** The role that migrates may not give the rights. */
export class GrantsRefused extends Schema.TaggedError<GrantsRefused>()("GrantsRefused", { statement: Schema.String }) {
  override get message(): string {
    return `The role of DATABASE_URL may not run \`${this.statement}\`, and the transaction changed nothing. Migrate as the owner of the tables; session settings of another role need a role with CREATEROLE that may administer it.`
  }
}

/** Fails if one of the roles does not exist. */
export const assertRolesExist = Effect.fnUntraced(function* (roles: ReadonlyArray<GrantedRole>) {
  const missing = yield* missingOf(roles)
  if (missing.length > 0) return yield* new RoleNotFound({ roles: missing })
})

const missingOf = Effect.fnUntraced(function* (roles: ReadonlyArray<GrantedRole>) {
  const sql = yield* SqlClient.SqlClient
  const names = [...new Set(roles.map(({ role }) => role))]
  const rows = yield* sql`
    select role from unnest(${names}::text[]) as given (role) where not exists (select from pg_roles where rolname = role)`.pipe(
    decodeRoles,
  )
  return rows.map(({ role }) => role)
})

/**
 * Gives each role exactly the rights that its kind needs, also the roles of earlier calls, which the database remembers. Without any role, changes
 * nothing. Fails with `RoleNotFound` if one of `added` does not exist; reports a remembered role that is gone.
 *
 * Only rights that differ are given or taken, so that a repetition changes nothing. Everyone loses the rights on the schema.
 */
export const grantRoles = Effect.fnUntraced(function* (
  added: ReadonlyArray<GrantedRole>,
  options: {
    /** Whether the roles also get the settings of every session, which a pooler in transaction mode cannot pass on. */
    readonly withSessionSettings: boolean
    readonly report: (sentence: string) => Effect.Effect<void>
  },
) {
  const sql = yield* SqlClient.SqlClient
  const { exists } = yield* sql`select to_regclass('granted_roles') is not null as exists`.pipe(decodeExists)
  if (!exists) return
  yield* assertRolesExist(added)
  for (const { role, kind } of added) {
    yield* sql`insert into granted_roles (role, kind) values (${role}, ${kind}) on conflict do nothing`
  }
  const remembered = yield* sql`select role, kind from granted_roles order by role, kind`.pipe(decodeGranted)
  const gone = new Set(yield* missingOf(remembered))
  for (const role of gone) {
    yield* options.report(`The role ${role}, which had rights here, is gone: it was given none.`)
  }
  const roles = remembered.filter(({ role }) => !gone.has(role))
  if (roles.length === 0) return

  const wanted = yield* wantedRights(roles)
  const held = yield* heldRights(roles.map(({ role }) => role))
  const statements = [
    ...[...held].filter(([key]) => !wanted.has(key)).map(([, { right, role }]) => `revoke ${right} from ${role}`),
    ...[...wanted].filter(([key]) => !held.has(key)).map(([, { right, role }]) => `grant ${right} to ${role}`),
    ...((yield* schemaIsPublic) ? ["revoke all on schema public from public"] : []),
    ...(options.withSessionSettings ? yield* sessionSettings(roles) : []),
  ]
  for (const statement of statements) yield* run(statement)
})

const schemaIsPublic = Effect.map(
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      select from pg_namespace, aclexplode(nspacl) where pg_namespace.oid = 'public'::regnamespace and grantee = 0`,
  ),
  (rows) => rows.length > 0,
)

const run = (statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(
    Effect.catchIf(
      (error) => sqlState(error) === "42501",
      () => Effect.fail(new GrantsRefused({ statement })),
    ),
  )

/** A right and the role that has it, as SQL writes them. */
interface RoleRight {
  readonly right: string
  readonly role: string
}

const keyed = (rights: ReadonlyArray<RoleRight>): ReadonlyMap<string, RoleRight> =>
  new Map(rights.map((each) => [`${each.right} ${each.role}`, each]))

const wantedRights = Effect.fnUntraced(function* (roles: ReadonlyArray<GrantedRole>) {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql`
    select relname as name, array(
      select quote_ident(attname) from pg_attribute where attrelid = pg_class.oid and attnum > 0 and not attisdropped
    ) as columns
    from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`.pipe(
    decodeTables,
  )
  const functions = yield* sql`
    select proname as name, oid::regprocedure::text as signature from pg_proc
    where pronamespace = 'public'::regnamespace and prosecdef`.pipe(decodeFunctions)
  const names = yield* sql`
    select role, quote_ident(role) as name from unnest(${roles.map(({ role }) => role)}::text[]) as given (role)`.pipe(
    decodeQuoted,
  )
  const quoted = new Map(names.map(({ role, name }) => [role, name]))
  const rightsOf = (kind: RoleKind): ReadonlyArray<string> => [
    "usage on schema public",
    ...functions.flatMap(({ name, signature }) =>
      FUNCTION_GRANTS[name]?.includes(kind) ? [`execute on function ${signature}`] : [],
    ),
    ...tables.flatMap(({ name, columns }) =>
      kind === "reader" ? readable(name, columns) : grantable(name, tableRights(name, kind)),
    ),
  ]
  return keyed(roles.flatMap(({ role, kind }) => rightsOf(kind).map((right) => ({ right, role: quoted.get(role)! }))))
})

const readable = (table: string, columns: ReadonlyArray<string>): ReadonlyArray<string> => {
  const secret = SECRET_COLUMNS[table]
  if (secret === undefined) return [`select on ${table}`]
  return columns.filter((column) => !secret.includes(column)).map((column) => `select (${column}) on ${table}`)
}

/** Writes the rights on a table as SQL does, one for each column. */
const grantable = (table: string, rights: ReadonlyArray<TableRight>): ReadonlyArray<string> =>
  rights.flatMap(
    ({ privilege, columns }) =>
      columns?.map((column) => `${privilege} (${column}) on ${table}`) ?? [`${privilege} on ${table}`],
  )

const heldRights = Effect.fnUntraced(function* (roles: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const rights = yield* sql`
    with given as (select oid, quote_ident(rolname) as role from pg_roles where rolname = any (${roles}::text[])),
    relation as (
      select * from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    )
    select distinct right_of.text as right, role from (
      select grantee, lower(privilege_type) || ' on ' || quote_ident(relname) as text from relation, aclexplode(relacl)
      union all
      select grantee, lower(privilege_type) || ' (' || quote_ident(attname) || ') on ' || quote_ident(relname)
      from relation join pg_attribute on attrelid = relation.oid, aclexplode(attacl)
      union all
      select grantee, 'execute on function ' || pg_proc.oid::regprocedure
      from pg_proc, aclexplode(proacl) where pronamespace = 'public'::regnamespace and prosecdef
      union all
      select grantee, lower(privilege_type) || ' on schema public' from pg_namespace, aclexplode(nspacl)
      where pg_namespace.oid = 'public'::regnamespace
    ) right_of join given on given.oid = grantee`.pipe(decodeRights)
  return keyed(rights)
})

const sessionSettings = Effect.fnUntraced(function* (roles: ReadonlyArray<GrantedRole>) {
  const sql = yield* SqlClient.SqlClient
  const names = [...new Set(roles.map(({ role }) => role))]
  const rows = yield* sql`
    select format('alter role %I in database %I set %I = %L', role, current_database(), name, value) as statement
    from unnest(${names}::text[]) as role
    cross join unnest(${Object.keys(SESSION_SETTINGS)}::text[], ${Object.values(SESSION_SETTINGS)}::text[]) as setting (name, value)`.pipe(
    decodeStatements,
  )
  return rows.map(({ statement }) => statement)
})

/** Takes the right to call a function that runs with the rights of its owner from everyone. PostgreSQL gives it at the creation. */
export const revokePublicExecution = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const functions = yield* sql`
    select proname as name, pg_proc.oid::regprocedure::text as signature from pg_proc
    where pronamespace = 'public'::regnamespace and prosecdef
      and (proacl is null or exists (select from aclexplode(proacl) where grantee = 0))`.pipe(decodeFunctions)
  for (const { signature } of functions) yield* sql.unsafe(`revoke execute on function ${signature} from public`)
})
