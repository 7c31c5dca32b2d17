import { OperatorStore } from "@outreach/backoffice/operators/OperatorStore"
import { OperatorId, OrganizationId } from "@outreach/domain/Identifier"
import {
  OPERATOR_ROLES,
  type Operator,
  OperatorName,
  OperatorRole,
  SIGN_IN_LINK_SECONDS,
} from "@outreach/domain/operators/Operator"
import { Seconds } from "@outreach/domain/Seconds"
import { Effect, Option, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { changing, reading } from "../audit/Access.ts"
import { parsedArgument, parsedFlag } from "../inputs/parsedInput.ts"
import { confirm, yes } from "../output/confirm.ts"
import { formatCount } from "../output/format.ts"
import { printList, printRecord, printToStderr } from "../output/Output.ts"
import { Target } from "../Target.ts"

const operatorId = parsedArgument("operator", OperatorId, "The operator's id, opr_…")

const role = parsedFlag(
  "role",
  OperatorRole,
  `What the operator may do, each more than the one before: ${OPERATOR_ROLES.join(", ")}`,
)

const expires = parsedFlag("expires", Seconds, "How long the sign-in link works, such as 2h (default 24h)").pipe(
  Flag.withDefault(SIGN_IN_LINK_SECONDS),
)

const add = changing(
  "add",
  {
    name: parsedFlag("name", OperatorName, "The operator's name; behind a proxy that signs in, as its header says it"),
    role,
    organization: parsedFlag(
      "organization",
      OrganizationId,
      "The one organization that the operator sees, org_… (default all)",
    ).pipe(Flag.optional),
    expires,
  },
  Effect.fn("ops.operators.add")(function* ({ name, role, organization, expires }) {
    const operators = yield* OperatorStore
    const organizationId = Option.getOrNull(organization)
    yield* printWithLink(yield* operators.add({ name, role, organizationId }), expires)
  }),
).pipe(
  Command.withDescription("Add an operator of the console, and show a link that signs the operator in once"),
  Command.withExamples([{ command: `ops operators add --name "Dana Reyes" --role operator` }]),
)

const list = reading(
  "list",
  {},
  Effect.fn("ops.operators.list")(function* () {
    yield* printList(yield* (yield* OperatorStore).list, [
      "id",
      "name",
      "role",
      "organizationId",
      "sessions",
      "lastUsedAt",
      "createdAt",
      "removedAt",
    ])
  }),
).pipe(Command.withDescription("List the operators of the console, oldest first, with their open sessions"))

const link = changing(
  "link",
  { operator: operatorId, expires },
  Effect.fn("ops.operators.link")(function* ({ operator, expires }) {
    yield* printWithLink(yield* (yield* OperatorStore).find(operator), expires)
  }),
).pipe(Command.withDescription("Show a new link that signs an operator in once"))

const update = changing(
  "update",
  { operator: operatorId, role },
  Effect.fn("ops.operators.update")(function* ({ operator, role }) {
    yield* printRecord(yield* (yield* OperatorStore).setRole(operator, role))
  }),
).pipe(Command.withDescription("Give an operator another role, from the next request on"))

const remove = changing(
  "remove",
  { operator: operatorId, yes },
  Effect.fn("ops.operators.remove")(function* ({ operator, yes }) {
    const operators = yield* OperatorStore
    const { name, role } = yield* operators.find(operator)
    const { sessions } = (yield* operators.list).find(({ id }) => id === operator)!
    yield* confirm(
      `remove ${role} ${operator} "${name}", and end ${formatCount(sessions, "session")} and every sign-in link`,
      { yes },
    )
    yield* printRecord(yield* operators.remove(operator))
  }),
).pipe(Command.withDescription("Remove an operator, and end the operator's sessions. Asks first, or needs --yes"))

/** `ops operators …` */
export const operators = Command.make("operators").pipe(
  Command.withDescription("Who may use the console"),
  Command.withSubcommands([add, list, link, update, remove]),
  Command.provide(OperatorStore.layer),
)

const printWithLink = Effect.fnUntraced(function* (operator: Operator, seconds: number) {
  const { consoleUrl } = yield* Target
  const baseUrl = yield* consoleUrl
  const { token, expiresAt } = yield* (yield* OperatorStore).createSignInLink(operator.id, { seconds, once: true })
  yield* printRecord({ ...operator, signInLink: `${baseUrl}/sign-in/${Redacted.value(token)}`, expiresAt })
  yield* printToStderr("\nThe link signs whoever has it in, once. It is shown this once; send it to nobody else.")
})
