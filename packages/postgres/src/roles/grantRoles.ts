import { DescribedError } from "@outreach/domain/DescribedError"
import { describeDatabaseError } from "@outreach/postgres-connection/describeDatabaseError"
import { SESSION_SETTINGS } from "@outreach/postgres-connection/sessionSettings"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { INSUFFICIENT_PRIVILEGE } from "../describeFault.ts"
import { decodeColumn, decodeIsTrue, decodeRows, toTable } from "../rowsOf.ts"
import { FUNCTION_GRANTS, ROLE_KINDS, SECRET_COLUMNS, tableRights } from "./grants.ts"

/** A database role and the kind of process that uses it. */
const GrantedRole = Schema.Struct({ role: Schema.String, kind: Schema.Literals(ROLE_KINDS) })
export type GrantedRole = typeof GrantedRole.Type

const decodeGranted = decodeRows(GrantedRole.fields)
const decodeRoles = decodeColumn({ role: Schema.String })
const decodeTables = decodeRows({ name: Schema.String, columns: Schema.Array(Schema.String) })
const decodeStatements = decodeColumn({ statement: Schema.String })

export class RoleNotFound extends DescribedError(
  "RoleNotFound",
  ({ roles }: { readonly roles: ReadonlyArray<string> }) =>
    `The database server has no role ${roles.join(" and ")}; nothing was changed. docs/deployment.md shows how to create the roles.`,
) {}

/** The migrating role may not grant the rights. */
export class GrantsRejected extends DescribedError(
  "GrantsRejected",
  "The role of DATABASE_URL may not run `{statement}`; the transaction was rolled back. Migrate as the owner of the tables; session settings of other roles require CREATEROLE and the right to administer them.",
) {}

/** Fails if a role doesn't exist. */
export const assertRolesExist = Effect.fnUntraced(function* (roles: ReadonlyArray<GrantedRole>) {
  const missing = yield* missingOf(roles)
  if (missing.length > 0) return yield* new RoleNotFound({ roles: missing })
})

const missingOf = Effect.fnUntraced(function* (roles: ReadonlyArray<GrantedRole>) {
  const sql = yield* SqlClient.SqlClient
  const names = [...new Set(roles.map(({ role }) => role))]
  return yield* sql`
    select role from unnest(${names}::text[]) as given (role) where not exists (select from pg_roles where rolname = role)`.pipe(
    decodeRoles,
  )
})

/**
 * Grants each role exactly the rights that its kind needs, including the roles of earlier calls, which the database remembers.
 * Reports remembered roles that no longer exist.
 *
 * Grants and revokes only the differences, so it can be repeated. PUBLIC loses the right to call functions that run with their owner's rights,
 * which PostgreSQL grants when it creates a function, and all other rights if there are roles.
 */
export const grantRoles = Effect.fnUntraced(function* (
  added: ReadonlyArray<GrantedRole>,
  options: {
    /** Also applies the session settings to the roles, for a pooler in transaction mode that can't pass them. */
    readonly withSessionSettings: boolean
    readonly report: (message: string) => Effect.Effect<void>
  },
) {
  const sql = yield* SqlClient.SqlClient
  if (!(yield* sql`select to_regclass('granted_roles') is not null as is_true`.pipe(decodeIsTrue))) return
  for (const { role, kind } of added) {
    yield* sql`insert into granted_roles (role, kind) values (${role}, ${kind}) on conflict do nothing`
  }
  const remembered = yield* sql`select role, kind from granted_roles order by role, kind`.pipe(decodeGranted)
  const gone = yield* missingOf(remembered)
  for (const role of gone) {
    yield* options.report(`The role ${role}, which had rights, no longer exists; it was skipped.`)
  }
  const roles = remembered.filter(({ role }) => !gone.includes(role))
  const settings = options.withSessionSettings ? Object.entries(SESSION_SETTINGS) : []
  for (const statement of yield* rightsToChange(roles, settings)) {
    yield* Effect.mapError(sql.unsafe(statement), (error) =>
      describeDatabaseError(error).code === INSUFFICIENT_PRIVILEGE ? new GrantsRejected({ statement }) : error,
    )
  }
})

/** Returns the grant and revoke statements that roles need, as SQL. */
export const rightsToChange = Effect.fnUntraced(function* (
  roles: ReadonlyArray<GrantedRole>,
  settings: ReadonlyArray<readonly [name: string, value: string]> = [],
) {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql`
    select relname as name, array(
      select quote_ident(attname) from pg_attribute where attrelid = pg_class.oid and attnum > 0 and not attisdropped
    ) as columns
    from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`.pipe(
    decodeTables,
  )
  const wanted = roles.flatMap(({ role, kind }) => [
    { role, permission: "usage on schema public" },
    ...Object.entries(FUNCTION_GRANTS).flatMap(([name, kinds]) =>
      kinds.includes(kind) ? [{ role, permission: `execute on function ${name}` }] : [],
    ),
    ...tables.flatMap(({ name, columns }) =>
      (kind === "reader" ? readable(name, columns) : tableRights(name, kind)).map((right) => ({
        role,
        permission: `${right} on ${name}`,
      })),
    ),
  ])
  // Revoking a right on a table also revokes it on the columns, so revokes are first.
  return yield* sql`
    with given as (
      select oid, rolname, quote_ident(rolname) as role from pg_roles where rolname in (
        select role from ${toTable("wanted", wanted, { role: "text" })})
    ), wanted as (
      select distinct permission, given.role
      from ${toTable("wanted", wanted, { role: "text", permission: "text" })} join given on rolname = wanted.role
    ), relation as (
      select * from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    ), held as (
      select distinct permission, coalesce(role, 'public') as role from (
        select grantee, lower(privilege_type) || ' on ' || quote_ident(relname) as permission from relation, aclexplode(relacl)
        union all
        select grantee, lower(privilege_type) || ' (' || quote_ident(attname) || ') on ' || quote_ident(relname)
        from relation join pg_attribute on attrelid = relation.oid, aclexplode(attacl)
        union all
        select grantee, 'execute on function ' || proname
        from pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner))) where pronamespace = 'public'::regnamespace and prosecdef
        union all
        select grantee, lower(privilege_type) || ' on schema public' from pg_namespace, aclexplode(nspacl)
        where pg_namespace.oid = 'public'::regnamespace
      ) each left join given on given.oid = grantee
      where role is not null or (grantee = 0 and (permission like 'execute%' or exists (select from wanted)))
    )
    select statement from (
      select 1 as step, 'revoke ' || permission || ' from ' || role as statement from (select * from held except select * from wanted) needless
      union all
      select 2, 'grant ' || permission || ' to ' || role from (select * from wanted except select * from held) lacking
      union all
      select 2 + position, format('alter role %I in database %I set %I = %L', rolname, current_database(), name, value) from given
      cross join unnest(${settings.map(([name]) => name)}::text[], ${settings.map(([, value]) => value)}::text[])
        with ordinality as setting (name, value, position)
    ) change order by step`.pipe(decodeStatements)
})

const readable = (table: string, columns: ReadonlyArray<string>): ReadonlyArray<string> => {
  const secret = SECRET_COLUMNS[table]
  if (secret === undefined) return ["select"]
  return columns.filter((column) => !secret.includes(column)).map((column) => `select (${column})`)
}
