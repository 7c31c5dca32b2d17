import { runMigrations } from "@outreach/postgres/migrations/runMigrations"
import type { GrantedRole } from "@outreach/postgres/roles/grantRoles"
import { ROLE_KINDS, type RoleKind } from "@outreach/postgres/roles/grants"
import { Effect } from "effect"
import { sql } from "./sql.ts"

const roleOf = (kind: RoleKind): string => `outreach_test_${kind}`

/** A role of each kind, with its rights in the databases of tests. */
export const TEST_ROLES: ReadonlyArray<GrantedRole> = ROLE_KINDS.map((kind) => ({ role: roleOf(kind), kind }))

/** Returns the URL of a test's database for the role of a kind of process, which isn't the owner. */
export const asRole = (url: string, kind: RoleKind): string => {
  const address = new URL(url)
  address.username = roleOf(kind)
  address.password = roleOf(kind)
  return address.href
}

/** Migrates a database to the newest schema, with the rights of the tests' roles, which it creates unless they exist. */
export const migrateWithRoles = Effect.gen(function* () {
  for (const { role } of TEST_ROLES) {
    // Roles belong to the server: another process can create the same one meanwhile.
    yield* sql.unsafe(
      `do $$ begin create role ${role} login password '${role}'; exception when duplicate_object or unique_violation then null; end $$`,
    )
  }
  return yield* runMigrations({ grantTo: TEST_ROLES })
})
