import { type FailureGroupFilter, FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { formatCounted } from "@outreach/backoffice/format"
import { issues } from "@outreach/backoffice/lists/issues"
import { Effect } from "effect"
import { LinkLine } from "../../components/layout.tsx"
import { listPage } from "../../http/listPage.tsx"

const readTotals = ({ organizationId, endpointId, status, state }: FailureGroupFilter) =>
  Effect.map(
    FailureGroupReader.use(({ totals }) => totals({ organizationId, endpointId, status, state })),
    (totals) => ({ totals }),
  )

export const issuesRoutes = listPage("/issues", issues, {
  read: ({ filter }) => readTotals(filter),
  around: ({ totals: { lasting, open, groups } }) => ({
    above: (
      <p>
        {lasting === 0
          ? "No calls are failing."
          : `${formatCounted(lasting, "cause")} of failures ${lasting === 1 ? "lasts" : "last"}.`}{" "}
        {open === 0
          ? "No dead letters to replay."
          : `${formatCounted(open, "dead letter")} in ${formatCounted(groups, "issue")} weren't delivered or replayed.`}
      </p>
    ),
    below: <LinkLine to="/replays">Replays</LinkLine>,
  }),
})
