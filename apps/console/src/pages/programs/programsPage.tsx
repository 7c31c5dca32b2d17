import { formatCount, nameIn } from "@outreach/backoffice/format"
import { organizationFilter } from "@outreach/backoffice/operations/fields"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { ProgramReader } from "@outreach/backoffice/programs/ProgramReader"
import { ProgramId } from "@outreach/domain/Identifier"
import type { Program } from "@outreach/domain/programs/Program"
import { Effect } from "effect"
import { ConfirmLink, FilterBar } from "../../components/forms.tsx"
import { Page, Pager, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { IdLink, Noted, StatusBadge, type Tone } from "../../components/values.tsx"
import { definePage } from "../../http/Route.ts"
import { pageOf } from "../../view/inputs.ts"
import { ComplaintRate } from "../campaigns/ComplaintRate.tsx"
import { newProgramPage } from "../newPages.tsx"

const PAGE_SIZE = 50

const filters = { organization: organizationFilter }

export const programsPage = definePage("/programs", {
  inputs: { ...filters, after: ProgramId },
  run: Effect.fnUntraced(function* ({ organization, after }, { operator }) {
    const organizations = yield* (yield* OrganizationReader).list
    const { list } = yield* ProgramReader
    const { rows, last } = pageOf(yield* list({ organizationId: organization, after }, PAGE_SIZE + 1), PAGE_SIZE)
    const isBound = operator.organizationId !== null
    return (
      <Page title="Programs" commands={[ops("programs list", { organization })]}>
        <ConfirmLink page={newProgramPage} query={{ organization }} label="Add a program" isPrimary />
        <FilterBar inputs={filters} values={{ organization }} controls={{ organization: { options: organizations } }} />
        <Table
          caption="Programs, oldest first, with the sums of their campaigns"
          rows={rows}
          empty="No programs. Add one to invite clinicians to it by e-mail."
          columns={{
            Program: ({ id, name, slug }) => (
              <Noted note={slug}>
                <IdLink id={id}>{name}</IdLink>
              </Noted>
            ),
            Organization:
              !isBound &&
              (({ organizationId }) => <IdLink id={organizationId}>{nameIn(organizations, organizationId)}</IdLink>),
            Status: ({ status }) => <ProgramBadge status={status} />,
            "Sender name": ({ senderName }) => senderName ?? "–",
            "Learner target": { number: ({ learnerTarget }) => countOrNoTarget(learnerTarget) },
            "Completer target": { number: ({ completerTarget }) => countOrNoTarget(completerTarget) },
            Sent: { count: ({ sent }) => sent },
            Complained: { number: (program) => <ComplaintRate {...program} /> },
            Unsubscribed: { count: ({ unsubscribed }) => unsubscribed },
          }}
        />
        <Pager next={last && { after: last.id }} />
      </Page>
    )
  }),
})

const countOrNoTarget = (target: number | null): string => (target === null ? "–" : formatCount(target))

const TONES: Readonly<Record<Program["status"], Tone>> = {
  draft: "neutral",
  active: "good",
  paused: "warning",
  archived: "neutral",
}

export const ProgramBadge = ({ status }: Pick<Program, "status">) => (
  <StatusBadge tone={TONES[status]}>{status}</StatusBadge>
)
