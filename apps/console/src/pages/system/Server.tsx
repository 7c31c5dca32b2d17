import { RELEASE } from "@outreach/process/release"
import { formatBytes, formatCount, formatDuration } from "../../components/format.ts"
import { Empty, Facts, Table } from "../../components/lists.tsx"
import { StatusBadge, Time } from "../../components/values.tsx"
import type { System } from "./readSystem.ts"
import { NotRead, SystemTable } from "./SystemTable.tsx"

/** What runs, and on which schema. */
export const Processes = ({ processes, load, schema }: System) => (
  <section>
    <h2>Versions and processes</h2>
    <Facts
      facts={{
        "Release of this console": RELEASE,
        PostgreSQL: load?.version.split(" ")[0] ?? "–",
        "Workers alive": load === undefined ? "–" : formatCount(load.workers),
        "Newest migration": schema?.newest?.file.replace(/^migrations\/|\.sql$/g, "") ?? "–",
        Applied: <Time at={schema?.newest?.appliedAt} />,
        "Migrations applied": schema === undefined ? "–" : formatCount(schema.migrations),
        "Files pending": schema === undefined ? "–" : formatPending(schema.pending),
        Connections:
          load === undefined ? "–" : `${formatCount(load.connections)} of ${formatCount(load.maxConnections)}`,
        "Size of the database": load === undefined ? "–" : formatBytes(load.bytes),
      }}
    />
    <SystemTable
      caption="Processes that are connected"
      rows={processes}
      empty="No process is connected."
      columns={{
        Process: ({ name }) => (name === "" ? "without a name" : name),
        Release: ({ release }) => <Release release={release} />,
        Address: ({ address }) => address ?? "–",
        Connections: { count: ({ connections }) => connections },
        "First connected": ({ since }) => <Time at={since} />,
      }}
    />
  </section>
)

const formatPending = (pending: ReadonlyArray<string>) =>
  pending.length === 0 ? "none" : `${formatCount(pending.length)}: ${pending.slice(0, 5).join(", ")}`

const Release = ({ release }: { readonly release: string | null }) => {
  if (release === RELEASE) return <>{release}</>
  if (release !== null) return <StatusBadge tone="warning">{`${release}, another than this console's`}</StatusBadge>
  return <>–</>
}

/** The database server and what replicates it. */
export const Server = ({ server }: System) => (
  <section>
    <h2>Server and standbys</h2>
    {server === undefined ? <NotRead /> : <ServerFacts {...server} />}
  </section>
)

const ServerFacts = (server: NonNullable<System["server"]>) => {
  const { role, timeline, synchronousStandbys, commitsWait, standbys, replayedSecondsAgo } = server
  return (
    <>
      {commitsWait === true && (
        <p class="problem">
          Commits wait for a synchronous standby that is not there: nothing can be written until it comes back.
        </p>
      )}
      <Facts
        facts={{
          Role: role,
          Timeline: timeline ?? "not known",
          "Synchronous standbys":
            synchronousStandbys === "" ? "none: a failover may lose the last commits" : synchronousStandbys,
          "Last commit replayed": replayedSecondsAgo !== null && `${formatDuration(replayedSecondsAgo)} ago`,
        }}
      />
      {standbys === null ? (
        <Empty>
          The role of this console may not see the standbys. A superuser can allow it: <code>grant pg_monitor</code> to
          the role.
        </Empty>
      ) : (
        <Table
          caption="Standbys"
          rows={standbys}
          empty="No standby replicates this server."
          columns={{
            Name: ({ name }) => name,
            Address: ({ address }) => address ?? "–",
            State: ({ state }) => state,
            Synchronous: ({ syncState }) => syncState,
            Behind: { number: ({ lagBytes }) => (lagBytes === null ? "–" : formatBytes(lagBytes)) },
            Lag: { number: ({ lagSeconds }) => `${lagSeconds.toFixed(1)} s` },
          }}
        />
      )}
    </>
  )
}
