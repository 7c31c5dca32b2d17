import { operators } from "@outreach/backoffice/lists/operators"
import {
  createOperator,
  createSignInLink,
  removeOperator,
  signOutOperator,
  updateOperator,
} from "@outreach/backoffice/operations/operators"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { OperatorNotFound } from "@outreach/domain/operators/Operator"
import { OperatorRepository } from "@outreach/domain/operators/OperatorRepository"
import { Effect } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { ActionForm, ConfirmLink } from "../../components/forms.tsx"
import { Facts, LinkLine, Page, Section, Table, withQuery } from "../../components/layout.tsx"
import { ForeignText, ShortId } from "../../components/values.tsx"
import { optionsOf } from "../../http/listObjects.ts"
import { listPage } from "../../http/listPage.tsx"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"
import { definePage } from "../../http/Route.ts"

const addAction = operationAction("/operators", createOperator)

const operatorsPages = listPage("/operators", operators, {
  around: ({ objects }) => ({
    commands: [["operators create", { name: "…", role: "viewer" }]],
    above: <ActionForm title="Add an operator" action={addAction} controls={optionsOf(objects)} />,
  }),
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
                    <ActionForm
                      action={signOutAction}
                      params={{ operator: id }}
                      label="End"
                      hidden={{ session: session.id }}
                    />
                  ),
                }}
              />
              {sessions.length > 1 && (
                <ActionForm action={signOutAction} params={{ operator: id }} controls={{ session: false }} />
              )}
              {proxyHeader === null ? (
                <ActionForm action={linkAction} params={{ operator: id }} isPrimary />
              ) : (
                <p>A proxy signs operators in by name.</p>
              )}
            </Section>
            <Section title="Role">
              <ActionForm action={roleAction} params={{ operator: id }} found={operator} />
              <ConfirmLink page={removeRoutes[0]} params={{ operator: id }} label="Remove" isDangerous />
            </Section>
          </>
        )}
      </Page>
    )
  }),
})

const roleAction = operationAction("/operators/:operator/role", updateOperator)
const linkAction = operationAction("/operators/:operator/link", createSignInLink, {
  omit: ["role", "organizationId", "name"],
})
const signOutAction = operationAction("/operators/:operator/sign-out", signOutOperator)
const removeRoutes = operationConfirmation("/operators/:operator/remove", removeOperator, { to: "/operators" })

export const operatorRoutes = [
  ...operatorsPages,
  addAction,
  operatorPage,
  roleAction,
  linkAction,
  signOutAction,
  ...removeRoutes,
] as const
