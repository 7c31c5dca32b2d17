import { textSchema } from "@outreach/domain/textSchema"
import type { GrantedRole } from "@outreach/postgres/roles/grantRoles"
import { ROLE_KINDS } from "@outreach/postgres/roles/grants"
import { Effect } from "effect"
import { creatingLog } from "../Declaration.ts"
import { flag, switchFlag, withDefault } from "../inputs/Input.ts"
import { print, printToStderr } from "../output/Output.ts"

const ROLE = new RegExp(`^(?:${ROLE_KINDS.join("|")})=[^=]{1,63}$`)

/** Roles by their kinds, such as `api=outreach_api`. */
const RolesByKind = textSchema(
  `kind=role, separated by commas, with the kinds ${ROLE_KINDS.join(", ")}`,
  (text): ReadonlyArray<string> | undefined => {
    const parts = text.split(",").map((part) => part.trim())
    return parts.every((part) => ROLE.test(part)) ? parts : undefined
  },
)

export const migrate = creatingLog({
  about: "Bring the database to the newest schema, and its roles to the rights that they need",
  examples: ["ops migrate", "ops migrate --grant-to api=outreach_api,worker=outreach_worker,operator=outreach_ops"],
  input: {
    grantTo: withDefault(
      flag(
        RolesByKind,
        "Give existing roles the rights of their kind, now and at each later migration: api=outreach_api,worker=outreach_worker",
        "kind=role,…",
      ),
      [],
    ),
    withSessionSettings: switchFlag(
      "Also give all granted roles the settings of a session, which PgBouncer in transaction mode cannot pass on",
    ),
  },
  *run({ grantTo: parts, withSessionSettings }) {
    const grantTo = parts.map((part) => {
      const [kind, role] = part.split("=")
      return { kind, role } as GrantedRole
    })
    const { runMigrations } = yield* Effect.promise(() => import("@outreach/postgres/migrations/runMigrations"))
    const applied = yield* runMigrations({ report: printToStderr, grantTo, withSessionSettings })
    yield* print({ applied }, () =>
      [
        ...(applied.length === 0 ? ["The schema was up to date."] : applied.map((file) => `Applied ${file}.`)),
        ...grantTo.map(({ kind, role }) => `The role ${role} has the rights of the kind ${kind}.`),
      ].join("\n"),
    )
  },
})
