import { endpointState } from "@outreach/backoffice/deliveries/endpointState"
import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { issues as issueList } from "@outreach/backoffice/lists/issues"
import { keys } from "@outreach/backoffice/lists/keys"
import { readAll } from "@outreach/backoffice/lists/List"
import { showOrganization } from "@outreach/backoffice/operations/organizations"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { LIST_COUNT_CAP } from "@outreach/domain/countCaps"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { formatFrom } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { Effect } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { ConfirmLink } from "../../components/forms.tsx"
import { Facts, Items, LinkLine, Page, Section, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { ForeignText, IdLink, Time } from "../../components/values.tsx"
import { endpointName } from "../../http/listObjects.ts"
import { ListTable } from "../../http/listPage.tsx"
import { defineMaskedPage } from "../../http/Route.ts"
import { type Masking, useMay } from "../../view/View.ts"
import { EndpointBadge } from "../endpoints/endpointsPage.tsx"
import { newProgramPage, newSenderPage } from "../newPages.tsx"
import { Contacts } from "./Contacts.tsx"
import { Keys } from "./Keys.tsx"
import { readSecrets } from "./Secrets.tsx"

const MAX_ISSUES = 5

export const partnerPages = defineMaskedPage("/partners/:organization", showOrganization, {
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
    keys: yield* readAll(keys, { organizationId: id }),
    secrets: yield* readSecrets(organization),
    documents: `${(yield* ConsoleConfig).publicBaseUrl}/docs`,
  }
})

export type Partner = Effect.Success<ReturnType<typeof readPartner>>

const contentOf = (partner: Partner, masking: Masking) => {
  const { organization, endpoints, issues, secrets, documents } = partner
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
        ops("organizations show", id),
        ops("keys list", { organization: id }),
        ops("secrets list", { organization: id }),
        ops("endpoints create", { organization: id, url: "https://…" }),
      ]}
    >
      <Problems {...partner} />
      <Outreach {...partner} />
      <Table
        caption="Endpoints"
        rows={endpoints}
        empty="No endpoints, so the partner receives no webhooks. Add one on the command line."
        columns={{
          Address: ({ id, url }) => <IdLink id={id}>{url}</IdLink>,
          State: (endpoint) => <EndpointBadge endpoint={endpoint} />,
          "Pending events": { count: ({ lagEvents }) => lagEvents, cap: LIST_COUNT_CAP },
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
      <Keys {...partner} />
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
          Programs: <Names things={programs} none="none" />,
          Senders: (
            <Names
              things={senders.map(({ id, ...sender }) => ({ id, name: formatFrom(sender) }))}
              none="none: uses the deployment’s sender"
            />
          ),
          Campaigns: <a href={`/campaigns?organization=${organization}`}>All campaigns</a>,
        }}
      />
      <p>
        <ConfirmLink page={newProgramPage} query={{ organization }} label="Add a program" />{" "}
        <ConfirmLink page={newSenderPage} query={{ organization }} label="Add a sender" />
      </p>
    </Section>
  ) : null

const Names = (props: {
  readonly things: ReadonlyArray<{ readonly id: string; readonly name: string }>
  readonly none: string
}) => (
  <Items
    of={props.things.length === 0 ? [props.none] : props.things.map(({ id, name }) => <IdLink id={id}>{name}</IdLink>)}
  />
)

const Problems = ({ organization, endpoints, issues }: Partner) => {
  const problems: ReadonlyArray<readonly [href: string, text: string] | false> = [
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
  ]
  const found = problems.filter((problem) => problem !== false)
  if (found.length === 0) return <p>No problems.</p>
  return (
    <ul class="problem">
      {found.map(([href, text]) => (
        <li key={text}>
          <a href={href}>
            <ForeignText>{text}</ForeignText>
          </a>
        </li>
      ))}
    </ul>
  )
}
