import { DeadLetterReader } from "@outreach/backoffice/deliveries/DeadLetterReader"
import { describeMissingLine } from "@outreach/backoffice/deliveries/describeMissingLine"
import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { formatCount, formatCounted } from "@outreach/backoffice/format"
import { deadLetters, removeDeadLetters } from "@outreach/backoffice/operations/deadLetters"
import { issues, muteIssue, unmuteIssue } from "@outreach/backoffice/operations/issues"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { describeOutcome } from "@outreach/domain/deliveries/describeCause"
import { mayActAs } from "@outreach/domain/operators/Operator"
import { Effect, Struct } from "effect"
import { ActionForm, ConfirmLink } from "../../components/forms.tsx"
import { Facts, LinkLine, Page } from "../../components/layout.tsx"
import { ForeignText, foreign, Time } from "../../components/values.tsx"
import { readObjects } from "../../http/listObjects.ts"
import { ListTable, listPage } from "../../http/listPage.tsx"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"
import { definePage } from "../../http/Route.ts"
import { replayPage } from "../deliveries/deadLetterPages.tsx"

const issuesPages = listPage("/issues", issues, {
  read: ({ filter: { organizationId, endpointId, status, state } }) =>
    Effect.all({
      totals: FailureGroupReader.use(({ totals }) => totals({ organizationId, endpointId, status, state })),
    }),
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

const MAX_DEAD_LETTERS = 20

const issuePage = definePage("/issues/:group", {
  forPartners: true,
  run: Effect.fnUntraced(function* ({ group: id }, { operator }) {
    // Only operators see the reason of a mute.
    const mayRead = mayActAs(operator.role, "viewer")
    const group = yield* (yield* FailureGroupReader).find(id)
    const { organizationId, firstLine, open, stored, failures, mutedAt, mutedReason, closedAt } = group
    const organization = yield* (yield* OrganizationReader).find(organizationId)
    const rows = yield* DeadLetterReader.use(({ list }) => list({ organizationId, groupId: id }, MAX_DEAD_LETTERS))
    const { nameOf } = yield* readObjects({ endpointId: true }, { organizationId })
    const params = { group: id }
    return (
      <Page
        title={firstLine === null ? describeOutcome(group) : foreign`${describeOutcome(group)}: ${firstLine}`}
        state={firstLine === null && <small>{describeMissingLine(group)}</small>}
        id={id}
        commands={[
          ["issues show", id],
          mutedAt === null ? ["issues mute", id, { reason: "…" }] : ["issues unmute", id],
          ["dead-letters list", { group: id }],
          ["dead-letters replay", { group: id, "dry-run": true }],
          ["dead-letters replay", { group: id, rate: "100", detach: true }],
          ["dead-letters remove", { group: id, "dry-run": true }],
        ]}
      >
        <Facts
          facts={{
            "Failed calls": failures,
            "Share of calls": group.share,
            Since: closedAt === null && { at: group.openedAt },
            Ended: closedAt && { at: closedAt },
            "Last failure": { at: group.lastAt },
            Muted: mayRead && mutedReason !== null && (
              <>
                <Time at={mutedAt} />: <ForeignText>{mutedReason}</ForeignText>
              </>
            ),
            "Dead letters to replay": open,
            "Stored dead letters": stored,
            Endpoint: { id: group.endpointId, name: nameOf(group.endpointId) },
            Organization: organization,
          }}
        />
        <div class="actions">
          {open > 0 && (
            <ConfirmLink page={replayPage} query={{ group: id }} label={`Replay ${formatCount(open)}`} isPrimary />
          )}
          {stored > 0 && (
            <ConfirmLink page={removeRoutes[0]} params={params} label={`Remove ${formatCount(stored)}`} isDangerous />
          )}
          <ActionForm action={mutedAt === null ? muteAction : unmuteAction} params={params} />
        </div>
        <ListTable title="Newest dead letters" list={deadLetters} rows={rows} nameOf={nameOf} />
        {open > MAX_DEAD_LETTERS && <LinkLine to={`/dead-letters?group=${id}`}>All dead letters</LinkLine>}
      </Page>
    )
  }),
})

const muteAction = operationAction("/issues/:group/mute", muteIssue)
const unmuteAction = operationAction("/issues/:group/unmute", unmuteIssue)
const removeRoutes = operationConfirmation("/issues/:group/remove", removeDeadLetters, {
  omit: Struct.keys(Struct.omit(removeDeadLetters.input, ["groupId", "confirm"])),
  chosen: ["groupId"],
  to: "/issues",
})

export const issueRoutes = [...issuesPages, issuePage, muteAction, unmuteAction, ...removeRoutes] as const
