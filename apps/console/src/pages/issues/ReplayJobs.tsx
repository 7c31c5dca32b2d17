import { type Replay, ReplayJobQueue } from "@outreach/domain/deliveries/ReplayJobQueue"
import { Effect } from "effect"
import { formatCount, formatDuration } from "../../components/format.ts"
import { ActionForm } from "../../components/forms.tsx"
import { Table } from "../../components/lists.tsx"
import { IdLink, StatusBadge, Time, type Tone } from "../../components/values.tsx"
import { defineAction } from "../../http/Route.ts"

const TONES: Readonly<Record<Replay["state"], Tone>> = { running: "warning", finished: "good", cancelled: "neutral" }

export const isReplaying = (jobs: ReadonlyArray<Replay>): boolean => jobs.some(({ state }) => state === "running")

export const ReplayJobs = (props: { readonly jobs: ReadonlyArray<Replay> }) => (
  <section id="replays">
    <Table
      title="Replay jobs"
      rows={props.jobs}
      empty="Nothing was replayed yet. A replay of dead letters or of a range of the log would stand here with its progress."
      columns={{
        Job: ({ id }) => <code>{id}</code>,
        State: ({ state }) => <StatusBadge tone={TONES[state]}>{state}</StatusBadge>,
        Of: (job) => <Selection job={job} />,
        Progress: (job) => <Progress job={job} />,
        "A second": { count: ({ rate }) => rate },
        "Time left": (job) => timeLeft(job),
        Created: ({ createdAt }) => <Time at={createdAt} />,
        Cancel: ({ id, state }) =>
          state === "running" && (
            <ActionForm action={cancelReplay} params={{ replay: id }} label="Cancel" isDangerous />
          ),
      }}
    />
  </section>
)

const Selection = ({ job }: { readonly job: Replay }) => {
  const words = [job.reason, job.status, job.eventType, job.eventTypes?.join(", ")].filter((each) => each != null)
  return (
    <>
      {job.kind === "log" ? "events of the log" : "dead letters"}
      {job.groupId !== null && (
        <>
          {" "}
          of <a href={`/issues/${job.groupId}`}>an issue</a>
        </>
      )}
      {words.length > 0 && `: ${words.join(", ")}`}
      {job.endpointId !== null && (
        <>
          {" "}
          to <IdLink id={job.endpointId} />
        </>
      )}
    </>
  )
}

const Progress = ({ job: { id, replayed, replayedByOthers, total } }: { readonly job: Replay }) => (
  <>
    <progress max={Math.max(1, total)} value={replayed + replayedByOthers} aria-label={`Progress of ${id}`} />{" "}
    {formatCount(replayed)} of {formatCount(total)}
    {replayedByOthers > 0 && `, ${formatCount(replayedByOthers)} by others`}
  </>
)

const timeLeft = ({ state, total, replayed, replayedByOthers, rate }: Replay): string =>
  state === "running" ? formatDuration((total - replayed - replayedByOthers) / rate) : "–"

export const cancelReplay = defineAction("/replays/:replay/cancel", "replays cancel", {
  role: "operator",
  run: Effect.fnUntraced(function* ({ replay }) {
    const { replayed, total } = yield* (yield* ReplayJobQueue).cancel(replay)
    return {
      to: "/issues",
      notice: `Cancelled after ${formatCount(replayed)} of ${formatCount(total)}; those stay replayed.`,
    }
  }),
})
