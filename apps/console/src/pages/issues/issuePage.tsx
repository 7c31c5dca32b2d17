import { describeMissingLine } from "@outreach/backoffice/deliveries/describeMissingLine"
import { type FailureGroup, FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { formatCount } from "@outreach/backoffice/format"
import { deadLetterFields, removeDeadLetters, replayDeadLetters } from "@outreach/backoffice/operations/deadLetters"
import { muteIssue, unmuteIssue } from "@outreach/backoffice/operations/issues"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { describeOutcome, describeShare } from "@outreach/domain/deliveries/describeCause"
import { mayActAs } from "@outreach/domain/operators/Operator"
import { Effect, Struct } from "effect"
import { ActionForm, ConfirmLink } from "../../components/forms.tsx"
import { Facts, Page, Pager } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { ForeignText, foreign, IdLink, StatusBadge, Time } from "../../components/values.tsx"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"
import { definePage } from "../../http/Route.ts"
import { Deliveries, EndpointLink, readEndpoints } from "../deliveries/Deliveries.tsx"
import { deadLetterCursor, readDeadLetters } from "../deliveries/deadLetters.ts"

const PAGE_SIZE = 20

const issuePage = definePage("/issues/:group", {
  forPartners: true,
  inputs: { after: deadLetterCursor.input },
  run: Effect.fnUntraced(function* ({ group: id, after }, { operator }) {
    // Only operators see the reason of a mute.
    const mayRead = mayActAs(operator.role, "viewer")
    const group = yield* (yield* FailureGroupReader).find(id)
    const { organizationId, open, stored, failures, mutedAt, mutedReason, closedAt } = group
    const organization = yield* (yield* OrganizationReader).find(organizationId)
    const [{ rows, next }, endpoints] = yield* Effect.all(
      [readDeadLetters({ organizationId, groupId: id }, PAGE_SIZE, after), readEndpoints(organizationId)],
      { concurrency: "unbounded" },
    )
    return (
      <Page
        title={groupTitle(group)}
        id={id}
        commands={[
          ops("issues show", id),
          mutedAt === null ? ops("issues mute", id, { reason: "…" }) : ops("issues unmute", id),
          ops("dead-letters list", { group: id }),
          ops("dead-letters replay", { group: id, "dry-run": true }),
          ops("dead-letters replay", { group: id, rate: "100", detach: true }),
          ops("dead-letters remove", { group: id, "dry-run": true }),
        ]}
      >
        <Facts
          facts={{
            Cause: <FailureCause {...group} />,
            "Failed calls": formatCount(failures),
            "Share of calls": describeShare(group),
            Since: closedAt === null && <Time at={group.openedAt} />,
            Ended: closedAt && <Time at={closedAt} />,
            "Last failure": <Time at={group.lastAt} />,
            Muted: mayRead && mutedReason !== null && (
              <>
                <Time at={mutedAt} />: <ForeignText>{mutedReason}</ForeignText>
              </>
            ),
            "Dead letters to replay": formatCount(open),
            "Stored dead letters": formatCount(stored),
            Endpoint: <EndpointLink id={group.endpointId} endpoints={endpoints} />,
            Organization: <IdLink id={organizationId}>{organization.name}</IdLink>,
          }}
        />
        <div class="actions">
          {open > 0 && (
            <ConfirmLink page={replayRoutes[0]} query={{ group: id }} label={`Replay ${formatCount(open)}`} isPrimary />
          )}
          {stored > 0 && (
            <ConfirmLink
              page={removeRoutes[0]}
              params={{ group: id }}
              label={`Remove ${formatCount(stored)}`}
              isDangerous
            />
          )}
          {mutedAt === null ? (
            <ActionForm action={muteAction} params={{ group: id }} />
          ) : (
            <ActionForm action={unmuteAction} params={{ group: id }} />
          )}
        </div>
        <h2>Newest dead letters</h2>
        <Deliveries rows={rows} endpoints={endpoints} isDead isContinued={false} />
        <Pager next={next} />
      </Page>
    )
  }),
})

const replayRoutes = operationConfirmation("/dead-letters/replay", replayDeadLetters, {
  chosen: Struct.keys(deadLetterFields),
  to: "/issues",
  flags: (input) => ({ all: Object.values(input).every((value) => value === undefined) }),
})

const muteAction = operationAction("/issues/:group/mute", muteIssue)
const unmuteAction = operationAction("/issues/:group/unmute", unmuteIssue)
const removeRoutes = operationConfirmation("/issues/:group/remove", removeDeadLetters, {
  chosen: ["groupId"],
  to: "/issues",
})

export const issueRoutes = [issuePage, muteAction, unmuteAction, ...removeRoutes, ...replayRoutes] as const

type Cause = Pick<FailureGroup, "id" | "endpointId" | "status" | "outcome" | "firstLine">

const FailureCause = (cause: Cause) => (
  <>
    <StatusBadge tone="bad">{describeOutcome(cause)}</StatusBadge>{" "}
    {cause.firstLine === null ? (
      <small>{describeMissingLine(cause)}</small>
    ) : (
      <ForeignText>{cause.firstLine}</ForeignText>
    )}
  </>
)

/** The number of failed calls with a cause, and during the issue their share of the endpoint's calls. */
const Episode = (group: FailureGroup) => (
  <>
    {formatCount(group.failures)}{" "}
    {group.closedAt === null ? (
      <small>
        {describeShare(group)} of calls since <Time at={group.openedAt} isShort />
      </small>
    ) : (
      <small>
        ended <Time at={group.closedAt} isShort />
      </small>
    )}
  </>
)

/** The columns of a table of issues. */
export const causeColumns = {
  Cause: (group: FailureGroup) => (
    <a href={`/issues/${group.id}`}>
      <FailureCause {...group} />
    </a>
  ),
  "Failed calls": { number: (group: FailureGroup) => <Episode {...group} /> },
  "Dead letters": { count: ({ open }: FailureGroup) => open },
  Last: ({ lastAt }: FailureGroup) => <Time at={lastAt} />,
}

const groupTitle = (cause: Cause) =>
  cause.firstLine === null ? describeOutcome(cause) : foreign`${describeOutcome(cause)}: ${cause.firstLine}`
