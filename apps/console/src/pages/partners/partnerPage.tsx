import { endpointState } from "@outreach/backoffice/deliveries/endpointState"
import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { formatCapped } from "@outreach/backoffice/format"
import { issues as issueList } from "@outreach/backoffice/lists/issues"
import { keys as keyList } from "@outreach/backoffice/lists/keys"
import { readAll } from "@outreach/backoffice/lists/List"
import { createKey, revokeKey, rotateKey } from "@outreach/backoffice/operations/keys"
import { showOrganization, updateOrganization } from "@outreach/backoffice/operations/organizations"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { LIST_COUNT_CAP } from "@outreach/domain/countCaps"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { type ApiKey, KEY_REQUESTS_PER_MINUTE } from "@outreach/domain/organizations/ApiKey"
import type { Organization } from "@outreach/domain/organizations/Organization"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { formatFrom, type Sender } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { Effect } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { ActionForm, ConfirmLink, RevealForm } from "../../components/forms.tsx"
import { Commas, Facts, Items, LinkLine, Page, ProblemLinks, Section, Table } from "../../components/layout.tsx"
import { ForeignText, foreign, isolated, Masked, Noted, Time } from "../../components/values.tsx"
import { endpointName } from "../../http/listObjects.ts"
import { ListTable } from "../../http/listPage.tsx"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"
import { defineMaskedPage } from "../../http/Route.ts"
import { type Masking, useMay } from "../../view/View.ts"
import { newProgramPage, newSenderPage } from "../newPages.tsx"
import { readSecrets } from "./Secrets.tsx"

const MAX_ISSUES = 5

const partnerPages = defineMaskedPage("/partners/:organization", showOrganization, {
  forPartners: true,
  run: ({ organization }, masking) => Effect.map(readPartner(organization), (partner) => contentOf(partner, masking)),
})

const readPartner = Effect.fnUntraced(function* (id: OrganizationId) {
  const organization = yield* (yield* OrganizationReader).find(id)
  return {
    organization,
    endpoints: yield* (yield* EndpointRepository).list(id),
    programs: yield* (yield* ProgramRepository).list(id),
    senders: yield* (yield* SenderRepository).list(id),
    issues: yield* (yield* FailureGroupReader).list({ organizationId: id, largest: true }, MAX_ISSUES),
    keys: yield* readAll(keyList, { organizationId: id }),
    secrets: yield* readSecrets(organization),
    documents: `${(yield* ConsoleConfig).publicBaseUrl}/docs`,
  }
})

type Partner = Effect.Success<ReturnType<typeof readPartner>>

const contentOf = (partner: Partner, masking: Masking) => {
  const { organization, endpoints, issues, keys, secrets, documents } = partner
  const { id, name, createdAt } = organization
  return (
    <Page
      title={<ForeignText>{name}</ForeignText>}
      state={
        <small>
          Partner since <Time at={createdAt} isShort />
        </small>
      }
      id={id}
      commands={[
        ["organizations show", id],
        ["keys list", { organization: id }],
        ["secrets list", { organization: id }],
        ["endpoints create", { organization: id, url: "https://…" }],
      ]}
    >
      <Problems {...partner} />
      <Outreach {...partner} />
      <Table
        caption="Endpoints"
        rows={endpoints}
        empty="No endpoints, so the partner receives no webhooks. Add one on the command line."
        columns={{
          Address: ({ id, url }) => ({ id, name: url }),
          State: endpointState,
          "Pending events": { number: ({ lagEvents }) => formatCapped(lagEvents, LIST_COUNT_CAP) },
        }}
      />
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
      <section>
        <ListTable title="API keys" list={keyList} rows={keys} cells={keyCells} />
        <p>Each key can make {KEY_REQUESTS_PER_MINUTE} requests per clock minute.</p>
        <ActionForm action={issueKeyAction} params={{ organization: id }} />
      </section>
      <Section title="Documents">
        <p>
          <a href={documents}>Quick start, webhooks, errors and reference</a>. After you create a key, its page links to
          them with the key filled in.
        </p>
      </Section>
      {secrets}
      <Contacts {...partner} {...masking} />
    </Page>
  )
}

/** E-mails for the partner, shown only to staff. */
const Outreach = ({ organization: { id: organization }, programs, senders }: Partner) =>
  useMay({ role: "viewer" }) ? (
    <Section title="Outreach" id="outreach">
      <Facts
        facts={{
          Programs: programs.length === 0 ? "none" : <Items of={programs} />,
          Senders: senders.length === 0 ? "none: uses the deployment’s sender" : <Items of={senders.map(nameSender)} />,
          Campaigns: <a href={`/campaigns?organization=${organization}`}>All campaigns</a>,
        }}
      />
      <p>
        <ConfirmLink page={newProgramPage} query={{ organization }} label="Add a program" />{" "}
        <ConfirmLink page={newSenderPage} query={{ organization }} label="Add a sender" />
      </p>
    </Section>
  ) : null

const nameSender = (sender: Sender) => ({ id: sender.id, name: formatFrom(sender) })

const Problems = ({ organization, endpoints, issues }: Partner) => (
  <ProblemLinks
    of={[
      ...endpoints.map((endpoint) => {
        const { tone, word, sentence } = endpointState(endpoint)
        return tone !== "good" && ([`/endpoints/${endpoint.id}`, `${endpoint.url}: ${word}. ${sentence}`] as const)
      }),
      ...issues
        .filter(({ closedAt }) => closedAt === null)
        .map((issue) => [`/issues/${issue.id}`, `Calls fail: ${issue.cause}.`] as const),
      organization.contacts.length === 0 &&
        endpoints.some(({ notices }) => notices > 0) && [
          "#contacts",
          "No one is notified when an endpoint fails. Add contacts.",
        ],
    ]}
    none={<p>No problems.</p>}
  />
)

const keyCells = {
  name: ({ id, name, prefix, lastFour, state }: Partner["keys"][number]) => (
    <div id={id}>
      <Noted note={`${prefix}…${lastFour}`}>{isolated(name)}</Noted>
      {state === "valid" && (
        <ActionForm
          title={foreign`Rotate or revoke ${name}`}
          action={rotateKeyAction}
          params={{ key: id }}
          below={<ConfirmLink page={revokeKeyRoutes[0]} params={{ key: id }} label="Revoke" isDangerous />}
        />
      )}
    </div>
  ),
  expiresAt: ({ revokedAt, expiresAt }: ApiKey) => <Time at={revokedAt ?? expiresAt} none="never" />,
}

/** Links to the documents with a key in the fragment, which browsers don't send. A script fills it into the commands. */
const documentsLink = ({ apiKey }: { readonly apiKey: string }) =>
  Effect.map(ConsoleConfig, ({ publicBaseUrl }) => (
    <LinkLine to={`${publicBaseUrl}/docs#key=${apiKey}`}>Open the API documents with this key</LinkLine>
  ))

const issueKeyAction = operationAction("/partners/:organization/keys", createKey, { below: documentsLink })
const rotateKeyAction = operationAction("/keys/:key/rotate", rotateKey, { below: documentsLink })

export const revokeKeyRoutes = operationConfirmation("/keys/:key/revoke", revokeKey, {
  children: <p>Or rotate it: the partner gets a new key first, and this one expires later.</p>,
})

const contactsAction = operationAction("/partners/:organization/contacts", updateOrganization)

/** The people who are notified of a failing endpoint. */
const Contacts = ({ organization, ...masking }: Masking & { readonly organization: Organization }) => {
  const { id, contacts } = organization
  return (
    <Section title="Contacts" id="contacts">
      <p>
        {contacts.length === 0
          ? "No one is notified when every call to an endpoint fails. The endpoint is still disabled."
          : "Notified by e-mail when every call to an endpoint fails: "}
        <Commas of={contacts.map((each) => (masking.isShown ? each : <Masked>{maskEmail(each)}</Masked>))} />
      </p>
      {contacts.length > 0 && <RevealForm {...masking} label="Show the contacts" />}
      <ActionForm action={contactsAction} params={{ organization: id }} />
    </Section>
  )
}

export const partnerRoutes = [
  ...partnerPages,
  issueKeyAction,
  rotateKeyAction,
  ...revokeKeyRoutes,
  contactsAction,
] as const
