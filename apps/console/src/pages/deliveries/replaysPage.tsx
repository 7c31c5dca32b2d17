import { formatCount } from "@outreach/backoffice/format"
import { replays } from "@outreach/backoffice/lists/replays"
import { cancelReplay } from "@outreach/backoffice/operations/replays"
import { ConfirmLink } from "../../components/forms.tsx"
import { listPage } from "../../http/listPage.tsx"
import { operationConfirmation } from "../../http/operationRoutes.tsx"

/** Reload interval while a job runs. */
const REFRESH_SECONDS = 3

const replaysPages = listPage("/replays", replays, {
  cells: {
    replayed: ({ id, replayed, replayedByOthers, total }) => (
      <>
        <progress max={Math.max(1, total)} value={replayed + replayedByOthers} aria-label={`Progress of ${id}`} />{" "}
        {formatCount(replayed)} of {formatCount(total)}
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

const cancelRoutes = operationConfirmation("/replays/:replay/cancel", cancelReplay, { back: () => "/replays" })

export const replayRoutes = [...replaysPages, ...cancelRoutes] as const
