import { DescribedError } from "@outreach/domain/DescribedError"
import { OperatorId, OrganizationId, SessionId } from "@outreach/domain/Identifier"
import { OPERATOR_ROLES, type Operator, PARTNER_ROLES } from "@outreach/domain/operators/Operator"
import * as Operators from "@outreach/domain/operators/Operators"
import { OperatorRepository } from "@outreach/domain/operators/Operators"
import { DisplayName, Seconds } from "@outreach/domain/textSchema"
import { Effect, Redacted } from "effect"
import { formatCounted, formatDuration } from "../format.ts"
import { ConsoleAddress } from "../operators/ConsoleAddress.ts"
import { checkBox, choice, field, filterBy, required, withDefault } from "./Field.ts"
import { count, id, inOps, list, text, time } from "./List.ts"
import { operation } from "./Operation.ts"

export const operators = list("operators list", {
  role: "admin",
  about: "List the operators of the console, oldest first, with their open sessions",
  filters: {
    organizationId: filterBy.organization,
    removed: checkBox("Removed", { hint: "Instead of the others" }),
  },
  *read({ organizationId, removed = false }) {
    const all = yield* (yield* OperatorRepository).list
    return all
      .filter(({ removedAt }) => (removedAt !== null) === removed)
      .filter((each) => organizationId === undefined || each.organizationId === organizationId)
  },
  columns: {
    ...inOps("id"),
    name: {
      ...text("Name"),
      sort: "asc",
      of: ({ id }) => id,
      note: ({ removedAt }) => (removedAt === null ? "" : `removed on ${removedAt.slice(0, 10)}`),
    },
    role: text("Role"),
    organizationId: { ...id("Organization"), none: "all" },
    sessions: count("Open sessions"),
    lastUsedAt: { ...time("Last used", "no open session"), sort: "desc" },
    createdAt: time("Added"),
    ...inOps("removedAt"),
  },
  empty: "No operators.",
  filledBy: "operators create",
})

export class UnclearOperator extends DescribedError(
  "InvalidSelection",
  "Give --operator, or the --role of a partner with --organization and --name.",
) {}

const role = required(
  choice("Role", OPERATOR_ROLES, {
    hint: "A viewer can read, an operator can also run actions, an admin can also delete and manage secrets. A partner only sees its organization, retries and replays; its admin also manages endpoints, contacts, keys and secrets",
  }),
)

const name = field(DisplayName, "Name", { hint: "Behind a sign-in proxy, exactly the name in its header" })

const expires = withDefault(field(Seconds, "Sign-in link valid for", { hint: "Such as 2h", size: 6 }), "24h")

/** Adds a link for one sign-in to an operator. */
const withLink = Effect.fnUntraced(function* (operator: Operator, seconds: number) {
  const { linkUrl } = yield* ConsoleAddress
  if (linkUrl === null) return { ...operator, signInLink: null, expiresAt: null }
  const { token, expiresAt } = yield* Operators.createSignInLink(operator.id, { seconds, once: true })
  return { ...operator, signInLink: `${linkUrl}/sign-in/${Redacted.value(token)}`, expiresAt }
})

const describeLink = (
  { name, role, signInLink }: Operator & { readonly signInLink: string | null },
  seconds: number,
) =>
  signInLink === null
    ? `${name} can sign in through the proxy with the role ${role}. Sign-in links are disabled.`
    : `Anyone with this link can sign in as “${name}” with the role ${role}: once, within ${formatDuration(seconds)}. Send it only to this person.`

export const createOperator = operation("operators create", {
  about: "Create a console operator, and show a one-time sign-in link",
  label: "Add and create a sign-in link",
  input: {
    name: required(name),
    role,
    organizationId: field(OrganizationId, "Organization", {
      kind: "choice",
      all: "All organizations",
      hint: "The only one that the operator sees; default all",
    }),
    expires,
  },
  faults: { OperatorNameTaken: "name", PartnerUnbound: "organizationId" },
  run: ({ name, role, organizationId = null, expires }) =>
    Effect.flatMap(Operators.addOperator({ name, role, organizationId }), (operator) => withLink(operator, expires)),
  shownOnce: ({ signInLink }) => signInLink ?? undefined,
  done: (operator, { expires }) => describeLink(operator, expires),
  examples: [`ops operators create --name "Sam at Acme" --role partner --organization org_…`],
})

export const createSignInLink = operation("sign-in-links create", {
  about: "Create a one-time sign-in link; with --role partner or partner-admin, also the operator if needed",
  label: "Create a sign-in link",
  input: {
    operatorId: field(OperatorId, "Operator"),
    role: choice("Role", PARTNER_ROLES, { hint: "Instead of an operator, with an organization and a name" }),
    organizationId: field(OrganizationId, "Organization"),
    name,
    expires,
  },
  *run({ operatorId, role, organizationId, name, expires }) {
    if (operatorId !== undefined && (role ?? organizationId ?? name) === undefined) {
      return yield* withLink(yield* OperatorRepository.use(({ find }) => find(operatorId)), expires)
    }
    if (operatorId === undefined && role !== undefined && organizationId !== undefined && name !== undefined) {
      return yield* withLink(yield* Operators.findOrAddPartner(name, role, organizationId), expires)
    }
    return yield* new UnclearOperator()
  },
  shownOnce: ({ signInLink }) => signInLink ?? undefined,
  done: (operator, { expires }) => describeLink(operator, expires),
  examples: [
    "ops sign-in-links create --operator opr_… --expires 2h",
    `ops sign-in-links create --role partner-admin --organization org_… --name "Sam at Acme"`,
  ],
})

export const updateOperator = operation("operators update", {
  about: "Change an operator's role. The last admin can't be demoted",
  label: "Change the role",
  of: { operatorId: OperatorId },
  input: { role },
  faults: { LastAdmin: "role", PartnerUnbound: "role" },
  find: ({ operatorId }) => OperatorRepository.use(({ find }) => find(operatorId)),
  texts: ({ role }) => ({ role }),
  run: ({ operatorId, role }) => Operators.setOperatorRole(operatorId, role),
  done: ({ name, role }) => `Role changed: ${name} is now ${role}.`,
  examples: ["ops operators update opr_… --role viewer"],
})

export const signOutOperator = operation("operators sign-out", {
  about: "End all sessions of an operator, or one. Sign-in links still work",
  label: "End all sessions",
  of: { operatorId: OperatorId },
  input: { sessionId: field(SessionId, "Session", { hint: "Listed on the operator's page; default all" }) },
  *run({ operatorId, sessionId }) {
    const operators = yield* OperatorRepository
    yield* operators.find(operatorId)
    return { operatorId, endedSessions: yield* operators.endSessions(operatorId, sessionId) }
  },
  done: ({ endedSessions }) => `Ended ${formatCounted(endedSessions, "session")}. Unused sign-in links still work.`,
})

export const removeOperator = operation("operators remove", {
  about: "Remove an operator, and end the operator's sessions. The last admin can't be removed",
  label: "Remove",
  isIrreversible: true,
  of: { operatorId: OperatorId },
  *plan({ operatorId }) {
    const operators = yield* OperatorRepository
    const { id, name, role } = yield* operators.find(operatorId)
    const sessions = yield* operators.listSessions(id)
    return {
      title: `Remove ${name}`,
      many: `1 operator, with ${formatCounted(sessions.length, "open session")} and every sign-in link`,
      affects: { id, name },
      when: "Immediately. The sessions end, and the name can be reused.",
      facts: { Role: role },
      caution: { word: name, because: "This can't be undone. The audit log keeps the name." },
    }
  },
  run: ({ operatorId }) => Operators.removeOperator(operatorId),
  done: ({ name }) => `Removed ${name} and ended the sessions.`,
})
