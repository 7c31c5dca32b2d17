import { nameIn } from "@outreach/backoffice/format"
import { createOperator } from "@outreach/backoffice/operations/operators"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import type { ListedOperator, Operator } from "@outreach/domain/operators/Operator"
import { OperatorRepository } from "@outreach/domain/operators/OperatorRepository"
import { Effect } from "effect"
import { ActionForm, Disclosure } from "../../components/forms.tsx"
import { Page, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { IdLink, Time } from "../../components/values.tsx"
import { operationAction } from "../../http/operationRoutes.tsx"
import { definePage } from "../../http/Route.ts"

/** The listed removed operators, the last removed first. */
const MAX_REMOVED = 50

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
        <Disclosure action={addAction} title="Add an operator">
          <ActionForm action={addAction} controls={{ organization: { options: organizations } }} />
        </Disclosure>
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

const addAction = operationAction("/operators", createOperator)

export const operatorsRoutes = [operatorsPage, addAction] as const
