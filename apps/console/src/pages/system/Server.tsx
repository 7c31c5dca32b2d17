import { RELEASE } from "@outreach/process/release"
import { Empty } from "../../components/Empty.tsx"
import { Facts } from "../../components/Facts.tsx"
import { formatBytes, formatCount, formatDuration } from "../../components/format.ts"
import { StatusBadge } from "../../components/StatusBadge.tsx"
import { Table } from "../../components/Table.tsx"
import { Time } from "../../components/Time.tsx"
import { Part } from "./Part.tsx"
import type { System } from "./readSystem.ts"

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
    <Part of={processes}>
      {(rows) => (
        <Table
          caption="Processes that are connected"
          rows={rows}
          empty="No process is connected."
          columns={[
            { header: "Process", cell: ({ name }) => (name === "" ? "without a name" : name) },
            { header: "Release", cell: ({ name, release }) => <Release name={name} release={release} /> },
            { header: "Address", cell: ({ address }) => address ?? "–" },
            { header: "Connections", numeric: true, cell: ({ connections }) => formatCount(connections) },
            { header: "First connected", cell: ({ since }) => <Time at={since} /> },
          ]}
        />
      )}
    </Part>
  </section>
)

const formatPending = (pending: ReadonlyArray<string>) =>
  pending.length === 0 ? "none" : `${formatCount(pending.length)}: ${pending.slice(0, 5).join(", ")}`

const Release = ({ name, release }: { readonly name: string; readonly release: string | null }) => {
  if (release === RELEASE) return <>{release}</>
  if (release !== null) return <StatusBadge tone="warning">{`${release}, another than this console's`}</StatusBadge>
  return name.startsWith("outreach-") ? <StatusBadge tone="warning">not told: an older release</StatusBadge> : <>–</>
}

/** The database server and what replicates it. */
export const Server = ({ server }: System) => (
  <section>
    <h2>Server and standbys</h2>
    <Part of={server}>
      {({ role, timeline, synchronousStandbys, commitsWait, standbys, replayedSecondsAgo }) => (
        <>
          {commitsWait === true && (
            <p class="problem">
              Commits wait for a synchronous standby that is not there: nothing can be written until it comes back.
            </p>
          )}
          <Facts
            facts={{
              Role: role,
              Timeline: timeline ?? "not told",
              "Synchronous standbys":
                synchronousStandbys === "" ? "none: a failover may lose the last commits" : synchronousStandbys,
              ...(replayedSecondsAgo !== null && {
                "Last commit replayed": `${formatDuration(replayedSecondsAgo)} ago`,
              }),
            }}
          />
          {standbys === null ? (
            <Empty>
              The role of this console may not see the standbys. A superuser can allow it: <code>grant pg_monitor</code>{" "}
              to the role.
            </Empty>
          ) : (
            <Table
              caption="Standbys"
              rows={standbys}
              empty="No standby replicates this server."
              columns={[
                { header: "Name", cell: ({ name }) => name },
                { header: "Address", cell: ({ address }) => address ?? "–" },
                { header: "State", cell: ({ state }) => state },
                { header: "Synchronous", cell: ({ syncState }) => syncState },
                {
                  header: "Behind",
                  numeric: true,
                  cell: ({ lagBytes }) => (lagBytes === null ? "–" : formatBytes(lagBytes)),
                },
                { header: "Lag", numeric: true, cell: ({ lagSeconds }) => `${lagSeconds.toFixed(1)} s` },
              ]}
            />
          )}
        </>
      )}
    </Part>
  </section>
)
