import { textSchema } from "@outreach/domain/textSchema"
import type { GrantedRole } from "@outreach/postgres/roles/grantRoles"
import { ROLE_KINDS } from "@outreach/postgres/roles/grants"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { changing } from "../audit/Access.ts"
import { parsedFlag, switchFlag } from "../inputs/parsedInput.ts"
import { print, printToStderr } from "../output/Output.ts"

/** Roles by their kinds, such as `api=outreach_api`. */
const RolesByKind = textSchema(
  `kind=role, separated by commas, with the kinds ${ROLE_KINDS.join(", ")}`,
  (text): ReadonlyArray<string> | undefined => {
    const parts = text.split(",").map((part) => part.trim())
    return parts.every((part) => new RegExp(`^(?:${ROLE_KINDS.join("|")})=[^=]{1,63}$`).test(part)) ? parts : undefined
  },
)

/** `ops migrate` */
export const migrate = changing(
  "migrate",
  {
    grantTo: parsedFlag(
      "grant-to",
      RolesByKind,
      "Give existing roles the rights of their kind, now and at each later migration: api=outreach_api,worker=outreach_worker",
    ).pipe(Flag.withMetavar("kind=role,…"), Flag.optional),
    withSessionSettings: switchFlag(
      "with-session-settings",
      "Also give all granted roles the settings of a session, which PgBouncer in transaction mode cannot pass on",
    ),
  },
  Effect.fn("ops.migrate")(function* ({ grantTo: given, withSessionSettings }) {
    const grantTo = Option.getOrElse(given, () => []).map((part) => {
      const [kind, role] = part.split("=")
      return { kind, role } as GrantedRole
    })
    // Loaded here, because the help does not need the migrations.
    const { runMigrations } = yield* Effect.promise(() => import("@outreach/postgres/migrations/runMigrations"))
    const applied = yield* runMigrations({ report: printToStderr, grantTo, withSessionSettings })
    yield* print({ applied }, () =>
      [
        ...(applied.length === 0 ? ["The schema was up to date."] : applied.map((file) => `Applied ${file}.`)),
        ...grantTo.map(({ kind, role }) => `The role ${role} has the rights of the kind ${kind}.`),
      ].join("\n"),
    )
  }),
  { createsLog: true },
).pipe(
  Command.withDescription("Bring the database to the newest schema, and its roles to the rights that they need"),
  Command.withExamples([
    { command: "ops migrate" },
    { command: "ops migrate --grant-to api=outreach_api,worker=outreach_worker,operator=outreach_ops" },
  ]),
)
