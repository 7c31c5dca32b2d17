import { formatCounted } from "@outreach/backoffice/format"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import type { OperatorId } from "@outreach/domain/Identifier"
import { SessionId } from "@outreach/domain/Identifier"
import { type Operator, OperatorNotFound } from "@outreach/domain/operators/Operator"
import { OperatorRepository } from "@outreach/domain/operators/OperatorRepository"
import { removeOperator, setOperatorRole } from "@outreach/domain/operators/Operators"
import { Effect } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { ActionForm, ConfirmLink } from "../../components/forms.tsx"
import { Facts, LinkLine, Page, Section, Table, withQuery } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { ForeignText, foreign, IdLink, ShortId, Time } from "../../components/values.tsx"
import { defineConfirmation } from "../../http/defineConfirmation.tsx"
import { defineAction, definePage } from "../../http/Route.ts"
import { expiresInput, linkFor, managedBy, roleInput } from "./operatorsPage.tsx"

const findListed = Effect.fnUntraced(function* (operatorId: OperatorId, admin: Operator) {
  const found = (yield* managedBy(admin)).find(({ id }) => id === operatorId)
  return found ?? (yield* new OperatorNotFound({ operatorId }))
})

const operatorPage = definePage("/operators/:operator", {
  role: "admin",
  run: Effect.fnUntraced(function* ({ operator: id }, { operator: admin }) {
    const { name, role, organizationId, createdAt, lastUsedAt, removedAt } = yield* findListed(id, admin)
    const organization = organizationId && (yield* (yield* OrganizationReader).find(organizationId))
    const sessions = yield* (yield* OperatorRepository).listSessions(id)
    const { proxyHeader } = yield* ConsoleConfig
    return (
      <Page
        title={<ForeignText>{name}</ForeignText>}
        id={id}
        commands={[ops("operators list"), ops("audit list", { operator: name })]}
      >
        <Facts
          facts={{
            Role: role,
            Organization: organization ? <IdLink id={organization.id}>{organization.name}</IdLink> : "all",
            Added: <Time at={createdAt} />,
            "Last used": removedAt === null && <Time at={lastUsedAt} none="no open session" />,
            Removed: removedAt && <Time at={removedAt} />,
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
                  Started: (session) => <Time at={session.createdAt} />,
                  "Last used": (session) => <Time at={session.lastUsedAt} />,
                  Expires: (session) => <Time at={session.expiresAt} />,
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
                <ActionForm action={signOutAction} params={{ operator: id }} label="End all sessions" />
              )}
              {proxyHeader === null ? (
                <ActionForm action={linkAction} params={{ operator: id }} label="Create a sign-in link" isPrimary />
              ) : (
                <p>A proxy signs operators in by name.</p>
              )}
            </Section>
            <Section title="Role">
              <ActionForm
                action={roleAction}
                params={{ operator: id }}
                label="Change the role"
                controls={{ role: { value: role } }}
              />
              <ConfirmLink page={remove[0]} params={{ operator: id }} label="Remove" isDangerous />
            </Section>
          </>
        )}
      </Page>
    )
  }),
})

const roleAction = defineAction("/operators/:operator/role", "operators update", {
  role: "admin",
  inputs: { role: roleInput },
  faults: { LastAdmin: "role", PartnerUnbound: "role" },
  run: Effect.fnUntraced(function* ({ operator: id, role }) {
    const { name } = yield* setOperatorRole(id, role)
    return `Role changed: ${name} is now ${role}.`
  }),
})

const linkAction = defineAction("/operators/:operator/link", "sign-in-links create", {
  role: "admin",
  inputs: { expires: expiresInput },
  run: Effect.fnUntraced(function* ({ operator: id, expires }) {
    return yield* linkFor(yield* (yield* OperatorRepository).find(id), expires)
  }),
})

const signOutAction = defineAction("/operators/:operator/sign-out", "operators sign-out", {
  role: "admin",
  inputs: { session: SessionId },
  run: Effect.fnUntraced(function* ({ operator: id, session }) {
    const ended = yield* (yield* OperatorRepository).endSessions(id, session)
    return `Ended ${formatCounted(ended, "session", "sessions")}. Unused sign-in links still work.`
  }),
})

const remove = defineConfirmation("/operators/:operator/remove", "operators remove", {
  role: "admin",
  ask: Effect.fnUntraced(function* ({ operator: id }, { operator: admin }) {
    const { name, role, sessions } = yield* findListed(id, admin)
    return {
      title: foreign`Remove ${name}?`,
      commands: [ops("operators remove", id, { yes: true })],
      back: `/operators/${id}`,
      many: `1 operator, with ${formatCounted(sessions, "open session", "open sessions")} and every sign-in link`,
      whom: foreign`${name}, with the role ${role}`,
      when: "Immediately. The sessions end, and the name can be reused.",
      typed: { word: name, because: "This can't be undone. The audit log keeps the name." },
      label: "Remove",
    }
  }),
  run: Effect.fnUntraced(function* ({ operator: id }) {
    const { name } = yield* removeOperator(id)
    return { to: "/operators", notice: `Removed ${name} and ended the sessions.` }
  }),
})

export const operatorRoutes = [operatorPage, roleAction, linkAction, signOutAction, ...remove] as const
