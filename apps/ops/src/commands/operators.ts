import { formatCounted } from "@outreach/backoffice/format"
import { OperatorId, OrganizationId, SessionId } from "@outreach/domain/Identifier"
import {
  type Operator,
  OperatorName,
  OperatorRole,
  SIGN_IN_LINK_SECONDS,
  STAFF_ROLES,
} from "@outreach/domain/operators/Operator"
import { OperatorRepository } from "@outreach/domain/operators/OperatorRepository"
import { addOperator, createSignInLink, removeOperator, setOperatorRole } from "@outreach/domain/operators/Operators"
import { Seconds } from "@outreach/domain/Seconds"
import { OperatorRepositoryPg } from "@outreach/postgres/operators/OperatorRepositoryPg"
import { Effect, Redacted } from "effect"
import { changing, group, reading } from "../Declaration.ts"
import { argument, choice, flag, optional, withDefault } from "../inputs/Input.ts"
import { confirm, refuse, yes } from "../output/Output.ts"
import { Target } from "../Target.ts"

const operatorId = argument(OperatorId, "The operator's id, opr_…")

const role = flag(
  OperatorRole,
  `The role: ${STAFF_ROLES.join(", ")}, each with more rights; or partner, for the partner view`,
)

const expires = withDefault(
  flag(Seconds, "How long the sign-in link works, such as 2h (default 24h)"),
  SIGN_IN_LINK_SECONDS,
)

const withLink = Effect.fnUntraced(function* (operator: Operator, seconds: number) {
  const { consoleUrl } = yield* Target
  const baseUrl = yield* consoleUrl
  const { token, expiresAt } = yield* createSignInLink(operator.id, { seconds, once: true })
  return { ...operator, signInLink: `${baseUrl}/sign-in/${Redacted.value(token)}`, expiresAt }
})
const sendToNobody = () =>
  "\nThe link signs in the person who opens it, once. It is shown this once; send it to nobody else."

const create = changing({
  about: "Create a console operator, and show a one-time sign-in link",
  examples: [
    `ops operators create --name "Dana Reyes" --role operator`,
    `ops operators create --name "Sam at Acme" --role partner --organization org_…`,
  ],
  input: {
    name: flag(OperatorName, "The operator's name; with CONSOLE_PROXY_HEADER, exactly as in the header"),
    role,
    organizationId: optional(flag(OrganizationId, "The only organization that the operator sees, org_… (default all)")),
    expires,
  },
  *run({ name, role, organizationId = null, expires }) {
    return yield* withLink(yield* addOperator({ name, role, organizationId }), expires)
  },
  note: sendToNobody,
})

const list = reading({
  about: "List the operators of the console, oldest first, with their open sessions",
  run: () => OperatorRepository.use(({ list }) => list),
  columns: ["id", "name", "role", "organizationId", "sessions", "lastUsedAt", "createdAt", "removedAt"],
})

const update = changing({
  about: "Change an operator's role. The last admin can't be demoted",
  examples: ["ops operators update opr_… --role viewer"],
  input: { operatorId, role },
  run: ({ operatorId, role }) => setOperatorRole(operatorId, role),
})

const remove = changing({
  about:
    "Remove an operator, and end the operator's sessions. Requires confirmation or --yes. The last admin can't be removed",
  input: { operatorId, yes },
  *run({ operatorId, yes }) {
    const operators = yield* OperatorRepository
    const { name, role } = yield* operators.find(operatorId)
    const { sessions } = (yield* operators.list).find(({ id }) => id === operatorId)!
    yield* confirm(
      `remove ${role} ${operatorId} "${name}", and end ${formatCounted(sessions, "session")} and every sign-in link`,
      { yes },
    )
    return yield* removeOperator(operatorId)
  },
})

const signOut = changing({
  about: "End all sessions of an operator, or one. Sign-in links still work",
  examples: ["ops operators sign-out opr_…", "ops operators sign-out opr_… --session ses_…"],
  input: {
    operatorId,
    sessionId: optional(
      flag(SessionId, "Only this session of the operator's page in the console, ses_… (default all)"),
    ),
  },
  *run({ operatorId, sessionId }) {
    const operators = yield* OperatorRepository
    yield* operators.find(operatorId)
    return { operatorId, endedSessions: yield* operators.endSessions(operatorId, sessionId) }
  },
})

export const operators = group({
  about: "Who may use the console",
  commands: { create, list, update, "sign-out": signOut, remove },
  services: OperatorRepositoryPg,
})

const findOrAddPartner = Effect.fnUntraced(function* (name: string, organizationId: OrganizationId) {
  const operators = yield* OperatorRepository
  const role = "partner"
  const known = (yield* operators.list).find(
    (each) =>
      each.removedAt === null && each.name === name && each.role === role && each.organizationId === organizationId,
  )
  return yield* known === undefined ? addOperator({ name, role, organizationId }) : operators.find(known.id)
})

const createLink = changing({
  about: "Create a one-time sign-in link; with --role partner, also the partner's operator if needed",
  examples: [
    "ops sign-in-links create --operator opr_… --expires 2h",
    `ops sign-in-links create --role partner --organization org_… --name "Sam at Acme"`,
  ],
  input: {
    operatorId: optional(flag(OperatorId, "The operator's id, opr_…")),
    role: optional(choice(["partner"], "In place of the id, with --organization and --name")),
    organizationId: optional(flag(OrganizationId, "The partner's organization, org_…")),
    name: optional(flag(OperatorName, "The name of the partner's operator; created if it doesn't exist")),
    expires,
  },
  *run({ operatorId, role, organizationId, name, expires }) {
    if (operatorId !== undefined && (role ?? organizationId ?? name) === undefined) {
      return yield* withLink(yield* OperatorRepository.use(({ find }) => find(operatorId)), expires)
    }
    if (operatorId === undefined && role !== undefined && organizationId !== undefined && name !== undefined) {
      return yield* withLink(yield* findOrAddPartner(name, organizationId), expires)
    }
    return yield* refuse("InvalidSelection", "Give --operator, or --role partner with --organization and --name.")
  },
  note: sendToNobody,
})

export const signInLinks = group({
  about: "Links by which operators sign in, once each",
  commands: { create: createLink },
  services: OperatorRepositoryPg,
})
