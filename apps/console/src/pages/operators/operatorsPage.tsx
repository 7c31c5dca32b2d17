import { formatDuration, nameIn } from "@outreach/backoffice/format"
import { choice, field, required } from "@outreach/backoffice/operations/Field"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import {
  type ListedOperator,
  OPERATOR_ROLES,
  type Operator,
  OperatorName,
  SIGN_IN_LINK_SECONDS,
} from "@outreach/domain/operators/Operator"
import { OperatorRepository } from "@outreach/domain/operators/OperatorRepository"
import { addOperator, createSignInLink } from "@outreach/domain/operators/Operators"
import { Seconds } from "@outreach/domain/Seconds"
import { Effect, Redacted } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { ActionForm, Folded } from "../../components/forms.tsx"
import { Page, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { foreign, IdLink, Time } from "../../components/values.tsx"
import { organizationFilter } from "../../http/inputs.ts"
import { defineAction, definePage } from "../../http/Route.ts"
import { ShownOnce } from "../partners/ShownOnce.tsx"

/** The listed removed operators, the last removed first. */
const MAX_REMOVED = 50

export const roleInput = required(
  choice("Role", OPERATOR_ROLES, {
    hint: "A viewer can read, an operator can also run actions, an admin can also delete and manage secrets. A partner only sees its organization.",
  }),
)

export const expiresInput = field(Seconds, "Sign-in link valid for", { value: "24h", hint: "Such as 2h", size: 6 })

/** Lists the operators that an admin manages: those of the admin's organization, or all. */
export const managedBy = ({ organizationId }: Operator) =>
  Effect.map(
    OperatorRepository.use(({ list }) => list),
    (all) => all.filter((each) => organizationId === null || each.organizationId === organizationId),
  )

const operatorsPage = definePage("/operators", {
  role: "admin",
  run: Effect.fnUntraced(function* (_, { operator }) {
    const operators = yield* managedBy(operator)
    const organizations = yield* (yield* OrganizationReader).list
    const columns = {
      Name: ({ id, name }: ListedOperator) => <IdLink id={id}>{name}</IdLink>,
      Role: ({ role }: ListedOperator) => role,
      Organization:
        operator.organizationId === null &&
        (({ organizationId: id }: ListedOperator) =>
          id === null ? "all" : <IdLink id={id}>{nameIn(organizations, id)}</IdLink>),
    }
    const removed = operators.filter(({ removedAt }) => removedAt !== null)
    return (
      <Page
        title="Operators"
        commands={[ops("operators list"), ops("operators create", { name: "…", role: "viewer" })]}
      >
        <Table
          label="Operators"
          rows={operators.filter(({ removedAt }) => removedAt === null)}
          empty="No operators yet."
          columns={{
            ...columns,
            "Open sessions": { count: ({ sessions }) => sessions },
            "Last used": ({ lastUsedAt }) => <Time at={lastUsedAt} none="no open session" />,
            Added: ({ createdAt }) => <Time at={createdAt} />,
          }}
        />
        <Folded action={addAction} title="Add an operator">
          <ActionForm
            action={addAction}
            label="Add and create a sign-in link"
            controls={{ organization: { options: organizations } }}
          />
        </Folded>
        {removed.length > 0 && (
          <Table
            title="Removed"
            rows={removed.toSorted((a, b) => (a.removedAt! < b.removedAt! ? 1 : -1)).slice(0, MAX_REMOVED)}
            columns={{ ...columns, Removed: ({ removedAt }) => <Time at={removedAt} /> }}
          />
        )}
      </Page>
    )
  }),
})

const addAction = defineAction("/operators", "operators create", {
  role: "admin",
  inputs: {
    name: required(
      field(OperatorName, "Name", {
        hint: "Behind a sign-in proxy, exactly the name in its header",
      }),
    ),
    role: roleInput,
    organization: { ...organizationFilter, control: { ...organizationFilter.control, all: "All organizations" } },
    expires: expiresInput,
  },
  faults: { OperatorNameTaken: "name", PartnerUnbound: "organization" },
  run: Effect.fnUntraced(function* ({ name, role, organization: organizationId = null, expires }) {
    return yield* linkFor(yield* addOperator({ name, role, organizationId }), expires)
  }),
})

/** Creates a sign-in link and shows it once. Behind a proxy that signs in, links don't work. */
export const linkFor = Effect.fnUntraced(function* (operator: Operator, seconds: number = SIGN_IN_LINK_SECONDS) {
  const { id, name, role } = operator
  const { consoleUrl, proxyHeader } = yield* ConsoleConfig
  const back = `/operators/${id}`
  if (proxyHeader !== null)
    return {
      to: back,
      notice: `${name} can sign in through the proxy with the role ${role}. Sign-in links are disabled.`,
    }
  const { token } = yield* createSignInLink(id, { seconds, once: true })
  return (
    <Page
      title="Sign-in link"
      id={id}
      commands={[ops("sign-in-links create", { operator: id, expires: `${seconds}s` })]}
    >
      <ShownOnce text={Redacted.make(`${consoleUrl}/sign-in/${Redacted.value(token)}`)} back={back}>
        <p>
          {foreign`Anyone with this link can sign in as “${name}” with the role ${role}`}: once, within{" "}
          {formatDuration(seconds)}. Send it to nobody else.
        </p>
      </ShownOnce>
    </Page>
  )
})

export const operatorsRoutes = [operatorsPage, addAction] as const
