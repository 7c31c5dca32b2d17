import { endpointState } from "@outreach/backoffice/deliveries/endpointState"
import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { formatCapped, formatCount } from "@outreach/backoffice/format"
import { InboxReader } from "@outreach/backoffice/inbox/InboxReader"
import { endpoints as endpointList } from "@outreach/backoffice/operations/endpoints"
import { issues as issueList } from "@outreach/backoffice/operations/issues"
import { createKey, keys as keyList, revokeKey, rotateKey } from "@outreach/backoffice/operations/keys"
import { readAll } from "@outreach/backoffice/operations/List"
import {
  createOrganization,
  limitOrganization,
  organizations,
  showOrganization,
  updateOrganization,
} from "@outreach/backoffice/operations/organizations"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { isPartner } from "@outreach/domain/operators/Operator"
import { KEY_REQUESTS_PER_MINUTE } from "@outreach/domain/organizations/ApiKey"
import { ProgramRepository } from "@outreach/domain/programs/Programs"
import { maskEmail } from "@outreach/domain/recipients/Clinician"
import { SenderRepository } from "@outreach/domain/senders/Senders"
import { Effect, Struct } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { ActionForm, ConfirmLink, RevealForm } from "../../components/forms.tsx"
import { Commas, Facts, Items, LinkLine, Page, ProblemLinks, Section } from "../../components/layout.tsx"
import {
  Addressed,
  ForeignText,
  foreign,
  isolated,
  Masked,
  Noted,
  renderValue,
  senderLink,
  Time,
} from "../../components/values.tsx"
import { endpointName } from "../../http/listObjects.ts"
import { ListTable, listPage } from "../../http/listPage.tsx"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"
import { defineMaskedPage } from "../../http/Route.ts"
import { titleOf } from "../../view/paths.ts"
import { newEndpoint } from "../endpoints/endpointPages.tsx"
import { readRejections } from "../inbox/inboxPages.tsx"
import { newProgram } from "../programs/programPages.tsx"
import { newSender } from "../senders/senderPages.tsx"
import { readSecrets } from "./Secrets.tsx"

const newPartner = operationAction("/partners/new", createOrganization)

const partnersPages = listPage("/partners", organizations, {
  create: { title: "Add an organization", action: newPartner },
  *around({ filter }) {
    const all = yield* (yield* EndpointRepository).list(filter.organizationId)
    return {
      commands: [["organizations show", "org_…"]],
      controls: { organization: false },
      cells: {
        endpoints: ({ id }) => {
          const states = all.filter(({ organizationId }) => organizationId === id).map(endpointState)
          return (
            <>
              {formatCount(states.length)} {states.filter(({ tone }) => tone !== "good").map(renderValue)}
            </>
          )
        },
      },
    }
  },
})

const MAX_ISSUES = 5

const partnerPages = defineMaskedPage("/partners/:organization", showOrganization, {
  forPartners: true,
  run: Effect.fnUntraced(function* ({ organization: id }, { operator, ...masking }) {
    const organization = yield* (yield* OrganizationReader).find(id)
    const { name, createdAt, contacts, selfService, maxEndpoints } = organization
    const inbound = yield* (yield* InboxReader).counts(id)
    const rejections = yield* readRejections(id)
    const endpoints = yield* (yield* EndpointRepository).list(id)
    const programs = yield* (yield* ProgramRepository).list(id)
    const senders = yield* (yield* SenderRepository).list(id)
    const issues = yield* (yield* FailureGroupReader).list({ organizationId: id, largest: true }, MAX_ISSUES)
    const keys = yield* readAll(keyList, { organizationId: id })
    const documents = `${(yield* ConsoleConfig).publicBaseUrl}/docs`
    const params = { organization: id }
    return (
      <Page
        title={<ForeignText>{name}</ForeignText>}
        state={
          <small>
            <Addressed you="You are a partner" partner="Partner" /> since <Time at={createdAt} />
          </small>
        }
        id={id}
        commands={[
          ["organizations show", id],
          ["keys list", params],
          ["secrets list", params],
          ["endpoints create", { ...params, url: "https://…" }],
        ]}
      >
        <ProblemLinks
          of={[
            ...endpoints.map((endpoint) => {
              const { tone, word, sentence } = endpointState(endpoint)
              return (
                tone !== "good" && ([`/endpoints/${endpoint.id}`, `${endpoint.url}: ${word}. ${sentence}`] as const)
              )
            }),
            ...issues
              .filter(({ closedAt }) => closedAt === null)
              .map((issue) => [`/issues/${issue.id}`, `Calls fail: ${issue.cause}.`] as const),
            contacts.length === 0 &&
              endpoints.some(({ notices }) => notices > 0) && [
                "#contacts",
                "No one is notified when an endpoint fails. Add contacts.",
              ],
          ]}
          none={<p>No problems.</p>}
        />
        {isPartner(operator) && !selfService && (
          <p>Self-service is off. Ask us to change your endpoints, contacts, keys or secrets.</p>
        )}
        {!isPartner(operator) && (
          <Section title="Outreach" id="outreach">
            <Facts
              facts={{
                Programs: programs.length === 0 ? "none" : <Items of={programs} />,
                Senders:
                  senders.length === 0 ? "none: uses the deployment’s sender" : <Items of={senders.map(senderLink)} />,
                "Self-service": selfService ? "on" : "off",
                "Maximum endpoints": maxEndpoints,
                Campaigns: { to: `/campaigns?organization=${id}`, name: "All campaigns" },
              }}
            />
            <ActionForm {...newProgram} hidden={params} />
            <ActionForm {...newSender} hidden={params} controls={{ program: { options: programs } }} />
            <ActionForm title="Change self-service" action={limitAction} params={params} found={organization} />
          </Section>
        )}
        <ListTable
          caption="Endpoints"
          list={{ ...endpointList, columns: Struct.pick(endpointList.columns, ["url", "state", "lagSeconds"]) }}
          rows={endpoints}
        />
        <ActionForm {...newEndpoint} hidden={params} />
        {issues.length > 0 && (
          <>
            <ListTable
              title="Causes of failures"
              list={issueList}
              rows={issues}
              nameOf={(id) => endpoints.filter((each) => each.id === id).map(endpointName)[0]}
            />
            <LinkLine to={`/issues?organization=${id}`}>All issues</LinkLine>
          </>
        )}
        <Section title={titleOf("inbox", operator)} id="inbox">
          <Facts
            facts={{
              Quarantined: { to: `/inbox?organization=${id}`, name: formatCapped(inbound.quarantined) },
              Pending: { to: `/inbox?organization=${id}&waiting=yes`, name: formatCapped(inbound.waiting) },
              Applied: { to: `/inbox?organization=${id}&applied=yes`, name: "Newest" },
            }}
          />
          {rejections}
        </Section>
        <section id="keys">
          <ListTable
            title="API keys"
            list={keyList}
            rows={keys}
            cells={{
              name: ({ id, name, prefix, lastFour, state }) => (
                <div id={id}>
                  <Noted note={`${prefix}…${lastFour}`}>{isolated(name)}</Noted>
                  {state === "valid" && (
                    <>
                      <ActionForm title={foreign`Rotate ${name}`} action={rotateKeyAction} params={{ key: id }} />
                      <ConfirmLink page={revokeKeyRoutes[0]} params={{ key: id }} isDangerous />
                    </>
                  )}
                </div>
              ),
              expiresAt: ({ revokedAt, expiresAt }) => ({ at: revokedAt ?? expiresAt, none: "never" }),
            }}
          />
          <p>Each key can make {KEY_REQUESTS_PER_MINUTE} requests per clock minute.</p>
          <ActionForm action={issueKeyAction} params={params} />
        </section>
        <Section title="Documents">
          <p>
            <a href={documents}>Quick start, webhooks, errors and reference</a>. After you create a key, its page links
            to them with the key filled in.
          </p>
        </Section>
        {yield* readSecrets(id)}
        <Section title="Contacts" id="contacts">
          <p>
            {contacts.length === 0
              ? "No one is notified when every call to an endpoint fails. The endpoint is still disabled."
              : "Notified by e-mail when every call to an endpoint fails: "}
            <Commas of={contacts.map((each) => (masking.isShown ? each : <Masked>{maskEmail(each)}</Masked>))} />
          </p>
          {contacts.length > 0 && <RevealForm {...masking} label="Show the contacts" />}
          <ActionForm action={contactsAction} params={params} />
        </Section>
      </Page>
    )
  }),
})

/** Links to the documents with a key in the fragment, which browsers don't send. A script fills it into the commands. */
const documentsLink = ({ apiKey }: { readonly apiKey: string }) =>
  Effect.map(ConsoleConfig, ({ publicBaseUrl }) => (
    <LinkLine to={`${publicBaseUrl}/docs#key=${apiKey}`}>Open the API documents with this key</LinkLine>
  ))

const issueKeyAction = operationAction("/partners/:organization/keys", createKey, { below: documentsLink })
const rotateKeyAction = operationAction("/keys/:key/rotate", rotateKey, { below: documentsLink })

export const revokeKeyRoutes = operationConfirmation("/keys/:key/revoke", revokeKey, {
  children: () => <p>Or rotate it: the new key is shown first, and this one expires later.</p>,
})

const limitAction = operationAction("/partners/:organization/limit", limitOrganization)
const contactsAction = operationAction("/partners/:organization/contacts", updateOrganization)

export const partnerRoutes = [
  ...[...partnersPages, newPartner, ...partnerPages, limitAction, contactsAction],
  ...[issueKeyAction, rotateKeyAction, ...revokeKeyRoutes],
]
