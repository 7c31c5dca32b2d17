import { textSchema } from "@outreach/domain/textSchema"
import type { GrantedRole } from "@outreach/postgres/roles/grantRoles"
import { ROLE_KINDS } from "@outreach/postgres/roles/grants"
import { Effect } from "effect"
import { TaskProgress } from "../TaskProgress.ts"
import { checkBox, field } from "./Field.ts"
import { operation } from "./Operation.ts"

const ROLE = new RegExp(`^(?:${ROLE_KINDS.join("|")})=[^=]{1,63}$`)

/** Roles by kind, such as `api=outreach_api`. */
const RolesByKind = textSchema(
  `kind=role, separated by commas, with the kinds ${ROLE_KINDS.join(", ")}`,
  (text): ReadonlyArray<string> | undefined => {
    const parts = text.split(",").map((part) => part.trim())
    return parts.every((part) => ROLE.test(part)) ? parts : undefined
  },
)

const rolesOf = (parts: ReadonlyArray<string> = []) =>
  parts.map((part) => {
    const [kind, role] = part.split("=")
    return { kind, role } as GrantedRole
  })

export const migrate = operation("migrate", {
  about: "Migrate the database to the newest schema, and update the rights of its roles",
  input: {
    grantTo: field(
      RolesByKind,
      "Grant existing roles the rights of their kind, now and in later migrations: api=outreach_api,worker=outreach_worker",
    ),
    withSessionSettings: checkBox("Also set session settings on all granted roles, for PgBouncer in transaction mode"),
  },
  createsLog: true,
  *run({ grantTo, withSessionSettings = false }) {
    const { runMigrations } = yield* Effect.promise(() => import("@outreach/postgres/migrations/runMigrations"))
    const { say: report } = yield* TaskProgress
    return { applied: yield* runMigrations({ report, grantTo: rolesOf(grantTo), withSessionSettings }) }
  },
  show: ({ applied }, { grantTo }) => [
    [
      ...(applied.length === 0 ? ["The schema was up to date."] : applied.map((file) => `Applied ${file}.`)),
      ...rolesOf(grantTo).map(({ kind, role }) => `The role ${role} has the rights of the kind ${kind}.`),
    ].join("\n"),
  ],
})
