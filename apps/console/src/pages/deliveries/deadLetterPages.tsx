import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { formatCount } from "@outreach/backoffice/format"
import { deadLetterFilters, deadLetters, replayDeadLetters } from "@outreach/backoffice/operations/deadLetters"
import { cancelReplay, replays } from "@outreach/backoffice/operations/replays"
import { Effect, Struct } from "effect"
import { ConfirmLink } from "../../components/forms.tsx"
import { Variants, withQuery } from "../../components/layout.tsx"
import { listPage } from "../../http/listPage.tsx"
import { operationConfirmation } from "../../http/operationRoutes.tsx"
import { pickDefined } from "../../view/inputs.ts"

const deadLettersPages = listPage("/dead-letters", deadLetters, {
  read: ({ filter: { organizationId, endpointId } }) => {
    const groups = { ...pickDefined({ organizationId, endpointId }), state: "dead" } as const
    return Effect.map(
      FailureGroupReader.use(({ statuses }) => statuses(groups)),
      (statuses) => ({ statuses: statuses.filter(({ status }) => status !== null) }),
    )
  },
  around: ({ statuses, filter, given, rows }) => ({
    title: "Dead letters",
    above: (
      <>
        {statuses.length > 0 && (
          <Variants
            label="Statuses"
            of={[
              [undefined, "Any status"],
              ...statuses.map(({ status, open }) => [status, `${status}: ${formatCount(open)}`] as const),
            ]}
            chosen={filter.status}
            to={(status) => withQuery("/dead-letters", { ...given, status })}
          />
        )}
        {rows.length > 0 && <ConfirmLink page={replayPage} query={given} />}
      </>
    ),
  }),
})

const replayRoutes = operationConfirmation("/dead-letters/replay", replayDeadLetters, {
  omit: ["deliveryId"],
  chosen: Struct.keys(deadLetterFilters),
  controls: () => ({ all: false }),
  to: "/replays",
})
export const replayPage = replayRoutes[0]

/** Reload interval while a job runs. */
const REFRESH_SECONDS = 3

const replaysPages = listPage("/replays", replays, {
  cells: {
    replayed: ({ id, replayed, total }) => (
      <>
        <progress max={Math.max(1, total)} value={replayed} aria-label={`Progress of ${id}`} /> {formatCount(replayed)}{" "}
        of {formatCount(total)}
      </>
    ),
  },
  around: ({ rows }) => ({
    title: "Replays",
    refreshSeconds: rows.some(({ state }) => state === "running") ? REFRESH_SECONDS : undefined,
    actions: {
      Cancel: ({ id, state }) => state === "running" && <ConfirmLink page={cancelRoutes[0]} params={{ replay: id }} />,
    },
  }),
})

const cancelRoutes = operationConfirmation("/replays/:replay/cancel", cancelReplay)

export const deadLetterRoutes = [...deadLettersPages, ...replayRoutes, ...replaysPages, ...cancelRoutes] as const
