import { DeadLetterReader } from "@outreach/backoffice/deliveries/DeadLetterReader"
import { describeMissingLine, FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { formatCapped, formatCount, formatCounted } from "@outreach/backoffice/format"
import {
  deadLetterFilters,
  deadLetters,
  removeDeadLetters,
  replayDeadLetters,
} from "@outreach/backoffice/operations/deadLetters"
import { retryDeliveries } from "@outreach/backoffice/operations/deliveries"
import { issues, muteIssue, unmuteIssue } from "@outreach/backoffice/operations/issues"
import { cancelReplay, replays } from "@outreach/backoffice/operations/replays"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import { describeOutcome } from "@outreach/domain/deliveries/describeCause"
import type { Replay } from "@outreach/domain/deliveries/Replays"
import { mayActAs } from "@outreach/domain/operators/Operator"
import { Effect, Struct } from "effect"
import { ActionForm, ConfirmLink } from "../../components/forms.tsx"
import { Chips, Facts, LinkLine, Page, withQuery } from "../../components/layout.tsx"
import { ForeignText, foreign, Time } from "../../components/values.tsx"
import { readObjects } from "../../http/listObjects.ts"
import { ListTable, listPage } from "../../http/listPage.tsx"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"
import { definePage } from "../../http/Route.ts"
import { pickDefined } from "../../view/inputs.ts"

const issuesPages = listPage("/issues", issues, {
  *around({ filter: { organizationId, endpointId, status, state } }) {
    const reader = yield* FailureGroupReader
    const { lasting, open, groups } = yield* reader.totals({ organizationId, endpointId, status, state })
    return {
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
    }
  },
})

const MAX_DEAD_LETTERS = 20

const issuePage = definePage("/issues/:group", {
  forPartners: true,
  run: Effect.fnUntraced(function* ({ group: id }, { operator }) {
    // Only operators see the reason of a mute.
    const mayRead = mayActAs(operator.role, "viewer")
    const group = yield* (yield* FailureGroupReader).find(id)
    const { organizationId, endpointId, firstLine, open, stored, failures, mutedAt, mutedReason, closedAt } = group
    const organization = yield* (yield* OrganizationReader).find(organizationId)
    const rows = yield* DeadLetterReader.use(({ list }) => list({ organizationId, groupId: id }, MAX_DEAD_LETTERS))
    const { nameOf } = yield* readObjects({ endpointId: true }, { organizationId })
    const waiting = yield* (yield* ReplayReader).countWaiting({ endpointId, groupId: id })
    const hasWaiting = waiting.count > 0 || !waiting.isWhole
    const manyWaiting = formatCapped(waiting.count, waiting.isWhole ? COUNT_CAP : waiting.count)
    const params = { group: id }
    return (
      <Page
        title={firstLine === null ? describeOutcome(group) : foreign`${describeOutcome(group)}: ${firstLine}`}
        state={firstLine === null && <small>{describeMissingLine(group)}</small>}
        id={id}
        commands={[
          ["issues show", id],
          mutedAt === null ? ["issues mute", id, { reason: "…" }] : ["issues unmute", id],
          hasWaiting && ["deliveries retry", { group: id, detach: true }],
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
            "Waiting for the next attempt": manyWaiting,
            "Dead letters to replay": open,
            "Stored dead letters": stored,
            Endpoint: { id: endpointId, name: nameOf(endpointId) },
            Organization: organization,
          }}
        />
        <div class="actions">
          {hasWaiting && <ConfirmLink page={retryRoutes[0]} params={params} />}
          {open > 0 && (
            <ConfirmLink page={replayRoutes[0]} query={{ group: id }} label={`Replay ${formatCount(open)}`} isPrimary />
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

const retryRoutes = operationConfirmation("/issues/:group/retry", retryDeliveries, {
  omit: ["deliveryId", "endpointId"],
  chosen: ["groupId"],
  to: "/replays",
})
const muteAction = operationAction("/issues/:group/mute", muteIssue)
const unmuteAction = operationAction("/issues/:group/unmute", unmuteIssue)
const removeRoutes = operationConfirmation("/issues/:group/remove", removeDeadLetters, {
  omit: Struct.keys(Struct.omit(removeDeadLetters.input, ["groupId", "confirm"])),
  chosen: ["groupId"],
  to: "/issues",
})

const deadLettersPages = listPage("/dead-letters", deadLetters, {
  *around({ filter: { organizationId, endpointId, status: chosen }, given, rows }) {
    const groups = { ...pickDefined({ organizationId, endpointId }), state: "dead" } as const
    const counts = (yield* (yield* FailureGroupReader).statuses(groups)).filter(({ status }) => status !== null)
    const addressOf = (status: unknown) => withQuery("/dead-letters", { ...given, status })
    const statuses = counts.map(({ status, open }) => [addressOf(status), `${status}: ${formatCount(open)}`] as const)
    return {
      title: "Dead letters",
      above: (
        <>
          {statuses.length > 0 && (
            <Chips
              label="Statuses"
              of={[[addressOf(undefined), "Any status"], ...statuses]}
              chosen={addressOf(chosen)}
            />
          )}
          {rows.length > 0 && <ConfirmLink page={replayRoutes[0]} query={given} />}
        </>
      ),
    }
  },
})

export const replayRoutes = operationConfirmation("/dead-letters/replay", replayDeadLetters, {
  omit: ["deliveryId"],
  chosen: Struct.keys(deadLetterFilters),
  controls: () => ({ all: false }),
  to: "/replays",
})

/** Reload interval while a job runs. */
export const REFRESH_SECONDS = 3

/** A job's progress, and the button that cancels it. */
const replayed = ({ id, replayed, total }: Replay) => (
  <>
    <progress max={Math.max(1, total)} value={replayed} aria-label={`Progress of ${id}`} /> {formatCount(replayed)} of{" "}
    {formatCount(total)}
  </>
)
const actions = {
  Cancel: ({ id, state }: Replay) =>
    state === "running" && <ConfirmLink page={cancelRoutes[0]} params={{ replay: id }} />,
}

/** The running jobs of an endpoint. */
export const RunningReplays = (props: { readonly rows: ReadonlyArray<Replay> }) =>
  props.rows.length > 0 && (
    <ListTable
      label="Running replays"
      list={{ columns: Struct.pick(replays.columns, ["selection", "replayed", "timeLeft"]) }}
      rows={props.rows}
      cells={{ replayed }}
      actions={actions}
    />
  )

const replaysPages = listPage("/replays", replays, {
  around: ({ rows }) =>
    Effect.succeed({
      title: "Replays",
      refreshSeconds: rows.some(({ state }) => state === "running") ? REFRESH_SECONDS : undefined,
      cells: { replayed },
      actions,
    }),
})

const cancelRoutes = operationConfirmation("/replays/:replay/cancel", cancelReplay)

export const issueRoutes = [
  ...[...issuesPages, issuePage, muteAction, unmuteAction, ...removeRoutes, ...retryRoutes],
  ...[...deadLettersPages, ...replayRoutes, ...replaysPages, ...cancelRoutes],
] as const
