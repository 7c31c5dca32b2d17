import {
  createOperator,
  createSignInLink,
  operators,
  removeOperator,
  signOutOperator,
  updateOperator,
} from "@outreach/backoffice/operations/operators"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { OperatorNotFound } from "@outreach/domain/operators/Operator"
import { OperatorRepository } from "@outreach/domain/operators/Operators"
import { Effect } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { ActionForm, ConfirmLink } from "../../components/forms.tsx"
import { Facts, LinkLine, Page, Section, Table, withQuery } from "../../components/layout.tsx"
import { ForeignText, ShortId } from "../../components/values.tsx"
import { listPage } from "../../http/listPage.tsx"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"
import { definePage } from "../../http/Route.ts"

const add = operationAction("/operators", createOperator)

const operatorsPages = listPage("/operators", operators, {
  create: { title: "Add an operator", action: add },
})

const operatorPage = definePage("/operators/:operator", {
  role: "admin",
  run: Effect.fnUntraced(function* ({ operator: id }) {
    const { list, listSessions } = yield* OperatorRepository
    const operator = (yield* list).find((each) => each.id === id)
    if (operator === undefined) return yield* new OperatorNotFound({ operatorId: id })
    const { name, role, organizationId, createdAt, lastUsedAt, removedAt } = operator
    const organization = organizationId && (yield* (yield* OrganizationReader).find(organizationId))
    const sessions = yield* listSessions(id)
    const { proxyHeader } = yield* ConsoleConfig
    const params = { operator: id }
    return (
      <Page
        title={<ForeignText>{name}</ForeignText>}
        id={id}
        commands={[["operators list"], ["audit list", { operator: name }]]}
      >
        <Facts
          facts={{
            Role: role,
            Organization: organization ?? "all",
            Added: { at: createdAt },
            "Last used": removedAt === null && { at: lastUsedAt, none: "no open session" },
            Removed: removedAt && { at: removedAt },
          }}
        />
        <LinkLine to={withQuery("/audit", { operator: name })}>Audit log of this operator</LinkLine>
        {removedAt === null && (
          <>
            <Section title="Sessions">
              <Table
                label="Open sessions"
                rows={sessions}
                empty="No open sessions."
                columns={{
                  Session: (session) => <ShortId>{session.id}</ShortId>,
                  Started: (session) => ({ at: session.createdAt }),
                  "Last used": (session) => ({ at: session.lastUsedAt }),
                  Expires: (session) => ({ at: session.expiresAt }),
                  End: (session) => (
                    <ActionForm action={signOut} params={params} label="End" hidden={{ session: session.id }} />
                  ),
                }}
              />
              {sessions.length > 1 && <ActionForm action={signOut} params={params} controls={{ session: false }} />}
              {proxyHeader === null ? (
                <ActionForm action={createLink} params={params} isPrimary />
              ) : (
                <p>A proxy signs operators in by name.</p>
              )}
            </Section>
            <Section title="Role">
              <ActionForm action={changeRole} params={params} found={operator} />
              <ConfirmLink page={removeRoutes[0]} params={params} isDangerous />
            </Section>
          </>
        )}
      </Page>
    )
  }),
})

const changeRole = operationAction("/operators/:operator/role", updateOperator)
const createLink = operationAction("/operators/:operator/link", createSignInLink, {
  omit: ["role", "organizationId", "name"],
})
const signOut = operationAction("/operators/:operator/sign-out", signOutOperator)
const removeRoutes = operationConfirmation("/operators/:operator/remove", removeOperator, { to: "/operators" })

export const operatorRoutes = [...operatorsPages, add, operatorPage, changeRole, createLink, signOut, ...removeRoutes]
